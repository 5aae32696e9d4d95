import { expect, test } from "vitest";
import { withPlace } from "./place";

test("a place is part of the settings, an empty one is not", () => {
  const chosen = withPlace({ cores: 2 }, " s3a://bucket/folder ");
  expect(chosen).toEqual({ cores: 2, checkpoint: "s3a://bucket/folder" });
  expect(withPlace(chosen, " ")).toEqual({ cores: 2 });
});
