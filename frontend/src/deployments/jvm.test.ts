import { expect, test } from "vitest";
import { aRun } from "../testing/samples";
import { jvmOf, sharesJvm, withJvm } from "./jvm";

test("sharing a JVM leaves out the settings that need one's own", () => {
  const settings = {
    cores: 2,
    memory_mb: 1024,
    real_time_ms: 10_000,
    lost_offsets: "latest" as const,
  };
  const shared = withJvm({ ...settings, checkpoint: "s3a://bucket/x" }, "shared");
  expect(shared).toEqual({ jvm: "shared", lost_offsets: "latest" });
  expect(sharesJvm(shared)).toBe(true);
  expect(withJvm(shared, "own")).toEqual({ lost_offsets: "latest" });
});

test("the JVM of a run is shown where it is shared or was to be", () => {
  const run = (jvm: { host: string | null; alone: "heap" | null }) => jvmOf({ ...aRun(), jvm });
  expect(run({ host: null, alone: null })).toBeNull();
  expect(run({ host: "workspace-1-abc", alone: null })).toBe("shared: workspace-1-abc");
  expect(run({ host: null, alone: "heap" })).toContain("heap of the shared one was full");
  expect(jvmOf(null)).toBeNull();
});
