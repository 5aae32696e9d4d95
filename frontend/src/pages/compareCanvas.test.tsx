import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { editor } from "../commands/kit";
import type { TopologyDocument } from "../graph/document";
import { open } from "../testing/rendering";
import { CompareCanvas, joinedOf } from "./CompareCanvas";
import { CompareState } from "./CompareState";

const at = (x: number) => ({ x, y: 0 });
const node = (id: string, kind: string, params = {}) => ({ id, kind, params, position: at(0) });
const left = {
  name: "t",
  nodes: [
    node("in", "source.stream"),
    node("big", "filter", { predicate: "n > 1" }),
    node("old", "sink.topic"),
  ],
  edges: [
    { source: "in", target: "big" },
    { source: "big", target: "old" },
  ],
} as unknown as TopologyDocument;
const right = {
  ...left,
  nodes: [
    { ...node("in", "source.stream"), position: at(99) },
    node("big", "filter", { predicate: "n > 7" }),
    node("new", "sink.topic"),
  ],
  edges: [
    { source: "in", target: "big" },
    { source: "big", target: "new" },
  ],
} as unknown as TopologyDocument;

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("one drawing has the nodes and edges of both sides, and moves are no change", () => {
  const { document, marks } = joinedOf(left, right);
  expect(document.nodes.map(({ id }) => id)).toEqual(["in", "big", "new", "old"]);
  expect(Object.fromEntries(marks)).toEqual({
    big: "changed",
    new: "added",
    old: "removed",
    "big.out>old.in": "removed",
    "big.out>new.in": "added",
  });
});

test("a marked node shows its settings on both sides, also by keyboard", () => {
  editor();
  open(<CompareCanvas left={left} right={right} />);
  fireEvent.click(screen.getByRole("button", { name: "big: changed" }));
  const settings = () => screen.getByTestId("compare-settings").textContent;
  expect(settings()).toContain("predicaten > 1n > 7");
  fireEvent.keyDown(screen.getByRole("button", { name: "new: added" }), { key: "Enter" });
  expect(settings()).toContain("kind–sink.topic");
});

test("what happens to each store is told with its reasons, and whether rows are lost", async () => {
  const stores = [
    { id: "sum", kind: "key_value", verdict: "migrated", reasons: ["value_widened"] },
    { id: "gone", kind: "key_value", verdict: "lost", reasons: [] },
  ];
  const sources = [
    { topic: "orders", verdict: "continues" },
    { topic: "items", verdict: "gone" },
  ];
  vi.stubGlobal("fetch", async () =>
    Response.json({ change: { stores, sources, accepted: false } }),
  );
  open(<CompareState ws="main" left={left} right={right} />);
  const text = (await screen.findByTestId("compare-state")).textContent;
  for (const part of ["sumMigratedA wider type", "goneLost", "itemsThis topic is no longer read"]) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain("orders");
  expect(text).toContain("A deploy asks what to do with rows that are lost.");
});
