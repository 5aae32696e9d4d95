import { expect, test } from "vitest";
import { freeAmong } from "../learn/names";
import { aDeployment, aTopology } from "../testing/samples";
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
  const after = withDeployment(before, aDeployment({ topology: 2, observed: "restarting" }));
  expect(after?.results.map((row) => row.deployment?.observed)).toEqual([undefined, "restarting"]);
});

test("a row has the state of each of its deployments", () => {
  const prod = aDeployment({ id: 9, settings: { environment: "prod" } });
  const before = withDeployment(page(aTopology({ id: 1 })), prod);
  const dev = aDeployment({ id: 4, observed: "stopped", settings: { environment: "dev" } });
  const [row] = withDeployment(before, dev)?.results ?? [];
  expect(row?.deployment?.id).toBe(9);
  expect(row?.deployments.map(({ environment, observed }) => [environment, observed])).toEqual([
    ["prod", "running"],
    ["dev", "stopped"],
  ]);
});

test("a taken name is continued by the first free number", () => {
  const taken = ["Orders", "orders 2", "Orders 4", "x".repeat(150)];
  expect(freeAmong(taken, "Users")).toBe("Users");
  expect(freeAmong(taken, "ORDERS")).toBe("ORDERS 3");
  expect(freeAmong(taken, "x".repeat(150))).toBe(`${"x".repeat(148)} 2`);
});

test("after the sign-in only addresses of this page are followed", () => {
  expect(safeNext("/w/main/t/3")).toBe("/w/main/t/3");
  for (const bad of [null, "", "//evil.example", "/\\evil.example", "https://evil.example"]) {
    expect(safeNext(bad)).toBe("/w");
  }
});
