import { expect, test } from "vitest";
import { isPlain, withDialect } from "./dialect";

test("plain PySpark leaves out the settings that it has nothing for", () => {
  const settings = {
    cores: 2,
    trigger_ms: 500,
    start: "latest" as const,
    lost_offsets: "latest" as const,
    checkpoint: "s3a://bucket/x",
  };
  const plain = withDialect(settings, "plain");
  expect(plain).toEqual({ cores: 2, dialect: "plain" });
  expect(isPlain(plain)).toBe(true);
  expect(withDialect(plain, "exact")).toEqual({ cores: 2, dialect: "exact" });
  expect(isPlain(undefined)).toBe(false);
});
