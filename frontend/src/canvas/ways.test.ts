// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { editor } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { setPoints } from "../graph/bends";
import { emptyDocument, type TopologyDocument } from "../graph/document";
import { detoursOf, isFar } from "./ways";

const at = (x: number, y: number) => ({ x, y });
const pair: TopologyDocument = {
  ...emptyDocument("pair"),
  nodes: [
    { id: "a", kind: "source.stream", position: at(0, 0), params: {} },
    { id: "b", kind: "filter", position: at(280, 0), params: {} },
  ],
  edges: [{ source: "a", target: "b" }],
};
const detours = (...points: { x: number; y: number }[]) => {
  editor(setPoints(pair, { source: "a", target: "b" }, points));
  return detoursOf(useDesigner.getState());
};

test("a wire led away from its nodes is in view where they are not", () => {
  const [detour] = detours(at(240, 4000));
  if (detour === undefined) throw new Error("no detour");
  expect(isFar(detour, { x: 0, y: 3000, width: 1000, height: 600 })).toBe(true);
  expect(isFar(detour, { x: 0, y: 0, width: 1000, height: 600 })).toBe(false);
  expect(isFar(detour, { x: 0, y: 5000, width: 1000, height: 600 })).toBe(false);
});

test("a wire that stays between its nodes is left to React Flow", () => {
  expect(detours(at(248, 40))).toEqual([]);
});
