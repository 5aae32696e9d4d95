import { expect, test } from "vitest";
import { isPlain, withDialect } from "./dialect";

test("plain PySpark leaves out the settings that it does not support", () => {
  const kept = {
    cores: 2,
    trigger_ms: 500,
    start: "latest" as const,
    checkpoint: "s3a://bucket/x",
  };
  const settings = { ...kept, real_time_ms: 10_000, lost_offsets: "latest" as const };
  const plain = withDialect(settings, "plain");
  expect(plain).toEqual({ ...kept, dialect: "plain" });
  expect(isPlain(plain)).toBe(true);
  expect(withDialect(plain, "exact")).toEqual({ ...kept, dialect: "exact" });
  expect(isPlain(undefined)).toBe(false);
});
