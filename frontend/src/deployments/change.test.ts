import { expect, test } from "vitest";
import type { StatePlan, StoreChange } from "../api/types";
import { decisionOf, nothingChanges, undecided } from "./change";

const store = (id: string, verdict: StoreChange["verdict"]): StoreChange => ({
  id,
  name: id,
  kind: "key_value",
  verdict,
  reasons: [],
  rows: null,
  bytes: null,
  convertible: false,
  old: null,
  new: null,
});

const plan = (...stores: StoreChange[]): StatePlan => ({
  before: 1,
  version: 2,
  stores,
  sources: [{ topic: "in", verdict: "continues", partitions: [] }],
  accepted: true,
  as_of: null,
  reset: false,
  warnings: [],
  handover: null,
  parameters: [],
  environments: { old: null, new: null },
  approval: null,
  tests: null,
});

test("a plan is shown where state or sources change", () => {
  expect(nothingChanges(plan(store("a", "kept"), store("b", "new")))).toBe(true);
  for (const verdict of ["migrated", "lost", "incompatible"] as const) {
    expect(nothingChanges(plan(store("a", verdict)))).toBe(false);
  }
  expect(
    nothingChanges({ ...plan(), sources: [{ topic: "in", verdict: "gone", partitions: [] }] }),
  ).toBe(false);
});

test("a plan is shown where the value of a parameter changes", () => {
  const parameters = [{ name: "low", old: 1, new: 2, by_default: false }];
  expect(nothingChanges({ ...plan(), parameters })).toBe(false);
});

test("what is lost is dropped, what is incompatible is reset, and the rest needs no decision", () => {
  const stores = [store("a", "lost"), store("b", "incompatible"), store("c", "migrated")];
  expect(undecided(plan(...stores)).map((each) => [each.id, decisionOf(each)])).toEqual([
    ["a", "drop"],
    ["b", "reset"],
  ]);
});
