// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { CATALOG, editor } from "../commands/kit";
import { foldedOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { t } from "../ui/i18n";
import { moveNodes } from "./changes";
import { emptyDocument, type TopologyDocument } from "./document";
import { folded, groupsOf, membersOf, NO_FOLDS, noteBox, notesOf, setNotes } from "./drawing";
import { boxOf, overlap } from "./geometry";
import { followingNotes, layout } from "./layout";
import { ways } from "./routing";

/** a → b → c → d → e in a row, and nothing else. */
function row(): TopologyDocument {
  const ids = ["a", "b", "c", "d", "e"];
  return {
    ...emptyDocument("row"),
    nodes: ids.map((id, index) => ({
      id,
      kind: index === 0 ? "source.stream" : index === 4 ? "sink.topic" : "filter",
      position: { x: index * 280, y: 0 },
      params: {},
    })),
    edges: ids.slice(1).map((target, index) => ({ source: ids[index] ?? "", target })),
  };
}

const titles = (document: TopologyDocument) =>
  groupsOf(document).map((group) => [group.id, group.parent, membersOf(document, group.id)]);

test("groups nest: a part of a group becomes a group in it, and whole groups come along", async () => {
  const drawn = editor(row());
  drawn.select("b", "c", "d");
  await drawn.run("group");
  drawn.select("b", "c");
  await drawn.run("group");
  expect(titles(drawn.document())).toEqual([
    ["group-1", undefined, ["d", "b", "c"]],
    ["group-2", "group-1", ["b", "c"]],
  ]);
  drawn.select("a", "b", "c", "d");
  await drawn.run("group");
  expect(titles(drawn.document()).map(([id, parent]) => [id, parent])).toEqual([
    ["group-1", "group-3"],
    ["group-2", "group-1"],
    ["group-3", undefined],
  ]);
  drawn.select("b", "c", "d");
  await drawn.run("ungroup");
  expect(titles(drawn.document())).toEqual([
    ["group-2", "group-3", ["b", "c"]],
    ["group-3", undefined, ["b", "c", "a", "d"]],
  ]);
  await drawn.undo();
  expect(groupsOf(drawn.document())).toHaveLength(3);
});

test("a group that loses its nodes is gone, and undo brings it back", async () => {
  const drawn = editor(row());
  drawn.select("b", "c");
  await drawn.run("group");
  await drawn.run("delete");
  expect(drawn.document().drawing).toBeUndefined();
  await drawn.undo();
  expect(membersOf(drawn.document(), "group-1")).toEqual(["b", "c"]);
});

test("a node that is inserted between two of a group belongs to it", async () => {
  const drawn = editor(row());
  drawn.select("b", "c");
  await drawn.run("group");
  const inner = drawn.drop("filter", { at: { x: 500, y: 20 }, edge: "b.out>c.in" });
  const outer = drawn.drop("filter", { at: { x: 100, y: 20 }, edge: "a.out>b.in" });
  expect(membersOf(drawn.document(), "group-1")).toContain(inner);
  expect(membersOf(drawn.document(), "group-1")).not.toContain(outer);
  drawn.select(inner);
  await drawn.run("leave-group");
  expect(membersOf(drawn.document(), "group-1")).not.toContain(inner);
});

test("a collapsed group hides its nodes and has a port for each wire from outside", async () => {
  const drawn = editor(row());
  drawn.select("b", "c");
  await drawn.run("group");
  await drawn.run("fold-group");
  const { frames, hidden } = foldedOf(useDesigner.getState());
  expect([...hidden.keys()]).toEqual(["b", "c"]);
  expect(frames[0]?.ports.map((port) => [port.side, port.id])).toEqual([
    ["input", "b.in"],
    ["output", "c.out"],
  ]);
  const found = ways(drawn.document(), CATALOG, { frames, hidden });
  expect(found.has("b.out>c.in")).toBe(false);
  expect(found.get("a.out>b.in")?.at(-1)).toEqual({ x: 280, y: 28 });
  await drawn.undo();
  expect(foldedOf(useDesigner.getState()).hidden.size).toBe(0);
});

test("going to a hidden node opens its groups without changing the document", async () => {
  const drawn = editor(row());
  drawn.select("b", "c");
  await drawn.run("group");
  await drawn.run("collapse-groups");
  const before = drawn.document();
  useDesigner.getState().goTo("c");
  expect(foldedOf(useDesigner.getState()).hidden.size).toBe(0);
  expect(drawn.document()).toBe(before);
});

test("a reader collapses groups for themselves alone", async () => {
  const drawn = editor(row());
  drawn.select("b", "c");
  await drawn.run("group");
  useDesigner.getState().setReadOnly(true);
  try {
    const before = drawn.document();
    await drawn.run("fold-group");
    expect(foldedOf(useDesigner.getState()).hidden.size).toBe(2);
    expect(drawn.document()).toBe(before);
    await drawn.run("expand-groups");
    expect(foldedOf(useDesigner.getState()).hidden.size).toBe(0);
  } finally {
    useDesigner.getState().setReadOnly(false);
  }
});

test("groups whose parents contain each other are drawn", () => {
  const document = {
    ...row(),
    drawing: {
      groups: [
        { id: "x", nodes: ["a"], parent: "y" },
        { id: "y", nodes: ["b"], parent: "x" },
        { id: "z", nodes: ["gone"], parent: "nowhere" },
      ],
    },
  };
  expect(folded(document, CATALOG, NO_FOLDS).frames.length).toBeGreaterThan(0);
  expect(titles(document)).toHaveLength(3);
});

test("a copy brings its groups and notes, and covers nothing", async () => {
  const drawn = editor(row());
  drawn.select("b", "c");
  await drawn.run("group");
  useDesigner
    .getState()
    .change(t("Add a note"), (document) =>
      setNotes(document, [{ id: "note-1", text: "why", position: { x: 280, y: -140 } }]),
    );
  useDesigner.getState().select({ nodes: ["b", "c"], notes: ["note-1"] });
  await drawn.run("duplicate");
  const after = drawn.document();
  expect(titles(after).map(([, , members]) => members)).toEqual([
    ["b", "c"],
    ["b-2", "c-2"],
  ]);
  expect(notesOf(after).map((note) => note.id)).toEqual(["note-1", "note-2"]);
  const boxes = [
    ...after.nodes.map((node) => boxOf(CATALOG, node)),
    ...notesOf(after).map(noteBox),
  ];
  boxes.forEach((box, index) => {
    for (const other of boxes.slice(index + 1)) expect(overlap(box, other, 0)).toBe(false);
  });
  await drawn.run("delete");
  expect(notesOf(drawn.document())).toHaveLength(1);
});

test("arranging a selection moves its nodes and no others", async () => {
  const { default: Elk } = await import("elkjs/lib/elk.bundled.js");
  const place = { x: 0, y: 400 };
  const document = moveNodes(
    row(),
    new Map([
      ["c", place],
      ["d", place],
    ]),
  );
  const positions = await layout(new Elk(), document, CATALOG, new Set(["c", "d"]));
  expect([...positions.keys()].sort()).toEqual(["c", "d"]);
  expect(positions.get("c")).toEqual(place);
  expect(positions.get("d")?.x).toBeGreaterThan(place.x + 200);
});

test("an arranged group stays together, and notes stay beside their nodes", async () => {
  const { default: Elk } = await import("elkjs/lib/elk.bundled.js");
  const elk = new Elk();
  const wide = row();
  const branch = ["f", "g", "h"].map((id, index) => ({
    id,
    kind: "filter",
    position: { x: 280 * (index + 1), y: 200 },
    params: {},
  }));
  const document: TopologyDocument = {
    ...wide,
    nodes: [...wide.nodes, ...branch],
    edges: [
      ...wide.edges,
      { source: "a", target: "f" },
      { source: "f", target: "g" },
      { source: "g", target: "h" },
    ],
    drawing: {
      groups: [{ id: "one", nodes: ["b", "g"] }],
      notes: [{ id: "why", text: "", position: { x: 0, y: -120 } }],
    },
  };
  const all = new Set(document.nodes.map((node) => node.id));
  const after = moveNodes(document, await layout(elk, document, CATALOG, all));
  const frame = folded(after, CATALOG, NO_FOLDS).frames[0];
  for (const node of after.nodes) {
    if (node.id === "b" || node.id === "g" || frame === undefined) continue;
    expect(overlap(boxOf(CATALOG, node), frame.box, 0)).toBe(false);
  }
  const notes = followingNotes(document, after, CATALOG);
  const place = after.nodes[0]?.position;
  expect(notes.get("why")?.x).toBe(place?.x);
});

test("arrows treat a collapsed group as one stop", async () => {
  const drawn = editor(row());
  drawn.select("b", "c");
  await drawn.run("group");
  await drawn.run("fold-group");
  drawn.select("a");
  await drawn.run("walk-right");
  expect(useDesigner.getState().selection.nodes).toEqual(["b", "c"]);
  await drawn.run("walk-right");
  expect(useDesigner.getState().selection.nodes).toEqual(["d"]);
  await drawn.run("walk-left");
  expect(useDesigner.getState().selection.nodes).toEqual(["b", "c"]);
});

test("a new note covers nothing", async () => {
  const drawn = editor(row());
  await drawn.run("add-note");
  await drawn.run("add-note");
  const boxes = notesOf(drawn.document()).map(noteBox);
  expect(boxes).toHaveLength(2);
  const nodes = drawn.document().nodes.map((node) => boxOf(CATALOG, node));
  for (const note of boxes) {
    const others = [...nodes, ...boxes.filter((box) => box !== note)];
    expect(others.filter((box) => overlap(box, note, 0))).toEqual([]);
  }
});

test("an expanded group moves what it would cover, and collapsing it again moves nothing", async () => {
  const drawn = editor(row());
  drawn.select("b", "c", "d");
  await drawn.run("group");
  drawn.select("b", "c", "d");
  await drawn.run("fold-group");
  // Beside the collapsed group, where the expanded one needs the place.
  useDesigner
    .getState()
    .change(t("Move"), (document) => moveNodes(document, new Map([["e", { x: 560, y: 0 }]])));
  drawn.select("b", "c", "d");
  await drawn.run("fold-group");
  const [frame] = folded(drawn.document(), CATALOG, NO_FOLDS).frames;
  const place = (id: string) =>
    drawn.document().nodes.find((node) => node.id === id)?.position ?? { x: 0, y: 0 };
  expect(place("e").x).toBeGreaterThan((frame?.box.x ?? 0) + (frame?.box.width ?? 0));
  expect([place("a"), place("b"), place("d")]).toEqual([
    { x: 0, y: 0 },
    { x: 280, y: 0 },
    { x: 840, y: 0 },
  ]);
  const moved = place("e");
  await drawn.run("fold-group");
  expect(place("e")).toEqual(moved);
});
