import { expect, test } from "vitest";
import { aDeployment, aTopology } from "../api/samples";
import { safeNext } from "./SignInPage";
import { withDeployment } from "./TopologiesPage";

const page = (...results: ReturnType<typeof aTopology>[]) => ({
  count: results.length,
  next: null,
  previous: null,
  results,
});

test("a row follows its deployment", () => {
  const before = page(aTopology({ id: 1 }), aTopology({ id: 2 }));
  const after = withDeployment(before, aDeployment({ topology: 2, observed: "degraded" }));
  expect(after?.results.map((row) => row.deployment?.observed)).toEqual([undefined, "degraded"]);
});

test("an older deployment of the same topology does not take the row back", () => {
  const deployment = { id: 9, observed: "running", desired: "running", version: 2 } as const;
  const before = page(aTopology({ id: 1, deployment }));
  const after = withDeployment(before, aDeployment({ id: 4, observed: "stopped" }));
  expect(after?.results[0]?.deployment).toEqual(deployment);
});

test("after the sign-in only addresses of this page are followed", () => {
  expect(safeNext("/w/main/t/3")).toBe("/w/main/t/3");
  for (const bad of [null, "", "//evil.example", "/\\evil.example", "https://evil.example"]) {
    expect(safeNext(bad)).toBe("/w");
  }
});
