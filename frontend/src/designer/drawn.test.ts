// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { chosenOf, flowGroups, flowNotes, isOfFragment } from "../canvas/flow";
import { editor } from "../commands/kit";
import { emptyDocument, type TopologyDocument } from "../graph/document";
import { idWithin } from "../graph/drawing";
import { draw } from "../graph/opening";
import { drawnOf, foldedOf } from "./drawn";
import { useDesigner } from "./store";

const at = (x: number, y: number) => ({ position: { x, y } });
const document = {
  ...emptyDocument("orders"),
  nodes: [
    { id: "orders", kind: "source.stream", ...at(0, 0) },
    { id: "clean", kind: "fragment", ...at(280, 0), params: { fragment: "Clean@1" } },
  ],
  edges: [{ source: "orders", target: "clean" }],
  fragments: {
    "Clean@1": {
      nodes: [
        { id: "in", kind: "fragment.input" },
        { id: "keep", kind: "filter", ...at(0, 0) },
        { id: "seen", kind: "peek", ...at(280, 0) },
      ],
      edges: [
        { source: "in", target: "keep" },
        { source: "keep", target: "seen" },
      ],
      drawing: {
        groups: [{ id: "g", title: "Inner", nodes: ["keep", "seen"] }],
        notes: [{ id: "n", text: "Why", position: { x: 0, y: 160 } }],
      },
    },
  },
} as unknown as TopologyDocument;

function opened() {
  const drawing = editor(document);
  useDesigner.setState({ openings: { ids: ["clean"], draw } });
  const state = () => useDesigner.getState();
  const groups = () => flowGroups(foldedOf(state()), new Set(), false, drawnOf(state()).owners);
  return { drawing, groups, state };
}

test("a group of an opened fragment is collapsed on the screen alone", async () => {
  const { drawing, groups, state } = opened();
  const group = idWithin("clean", "g");
  state().fold(group, true);
  expect(drawing.document()).toBe(document);
  expect(state().history.past).toEqual([]);
  expect([...foldedOf(state()).hidden.keys()].sort()).toEqual([
    "clean",
    "clean--keep",
    "clean--seen",
  ]);
  expect(groups().map(({ type }) => type)).toEqual(["frame", "group"]);
  state().fold(group, false);
  expect(groups().map(({ type }) => type)).toEqual(["frame", "frame"]);
  expect(drawing.document()).toBe(document);
});

test("what is drawn of an opened fragment stands for its node and cannot be moved", () => {
  const { groups, state } = opened();
  const [whole, inner] = groups();
  if (whole === undefined || inner === undefined) throw new Error("no frames");
  expect([whole.draggable, inner.draggable]).toEqual([true, false]);
  expect([isOfFragment(whole), isOfFragment(inner)]).toEqual([true, true]);
  const [note] = flowNotes(drawnOf(state()).document, new Set(), [], false);
  if (note === undefined) throw new Error("no note");
  expect([note.draggable, note.selectable, note.focusable]).toEqual([false, false, false]);
  for (const each of [whole, inner, note]) {
    expect(chosenOf([each])).toEqual({ nodes: ["clean"], notes: [], inner: undefined });
  }
});
