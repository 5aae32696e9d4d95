import { expect, test } from "vitest";
import { placeProblem, withPlace } from "./place";

test("a place is part of the settings, an empty one is not", () => {
  const chosen = withPlace({ cores: 2 }, " s3a://bucket/folder ");
  expect(chosen).toEqual({ cores: 2, checkpoint: "s3a://bucket/folder" });
  expect(withPlace(chosen, " ")).toEqual({ cores: 2 });
});

test("a place is a URI without credentials", () => {
  for (const checkpoint of ["s3a://bucket/a/b", "hdfs://name:8020/x", "s3a://bucket"]) {
    expect(placeProblem({ checkpoint })).toBeNull();
  }
  expect(placeProblem({})).toBeNull();
  for (const checkpoint of ["/data/x", "bucket/x", "s3a://key:secret@bucket/x", "s3a://b/x?y"]) {
    expect(placeProblem({ checkpoint })).toContain("s3a://bucket/folder");
  }
});
