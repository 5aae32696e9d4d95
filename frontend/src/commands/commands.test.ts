// @vitest-environment happy-dom
import { notifications } from "@mantine/notifications";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { useDesigner } from "../designer/store";
import { setLabel, setParam } from "../graph/changes";
import { findNode, paramsOf } from "../graph/document";
import { boxOf, GRID, NODE_WIDTH, overlap } from "../graph/geometry";
import { t } from "../ui/i18n";
import { pressed } from "../ui/keys";
import { copiedText, pasteText, removeCopied } from "./clipboard";
import { CATALOG, type Editor, editor } from "./kit";
import { allCommands } from "./registry";
import { dispatch } from "./shortcuts";

let edit: Editor;

beforeEach(() => {
  sessionStorage.clear();
  edit = editor();
});

describe("adding", () => {
  test("a kind entered beside the selected node is wired after it", () => {
    edit.drop("source.stream");
    edit.drop("filter");
    edit.drop("sink.topic");
    expect(edit.edges()).toEqual(["stream.out>filter.in", "filter.out>sink.in"]);
  });

  test("a node that is added where another one is goes below it", () => {
    edit.drop("filter", { at: { x: 0, y: 0 } });
    edit.select();
    edit.drop("count", { at: { x: 40, y: 10 } });
    const [first, second] = edit.document().nodes.map((node) => boxOf(CATALOG, node));
    expect(first && second && overlap(first, second, 0)).toBe(false);
    expect(Math.abs((second?.x ?? 0) + NODE_WIDTH / 2 - 40)).toBeLessThan(GRID);
  });

  test("a kind entered beside a process or a split is wired to its first free output", () => {
    edit.drop("source.stream");
    edit.drop("process");
    edit.drop("sink.topic");
    edit.select("process");
    edit.drop("sink.print");
    edit.select("stream");
    edit.drop("split");
    edit.drop("filter");
    expect(edit.edges()).toEqual([
      "stream.out>process.in",
      "process.out>sink.in",
      "process.out>print.in",
      "stream.out>split.in",
      "split.branch-1>filter.in",
    ]);
  });

  test("a node dropped on an edge takes its place among the children", () => {
    edit.drop("source.stream");
    edit.drop("filter");
    edit.select("stream");
    edit.drop("peek");
    edit.drop("map_values", { at: { x: 300, y: 0 }, edge: "stream.out>filter.in" });
    expect(edit.edges()).toEqual([
      "stream.out>map_values.in".replace("_", "-"),
      "stream.out>peek.in",
      "map-values.out>filter.in",
    ]);
  });

  test("what comes after an inserted node moves on to make room", () => {
    edit.drop("source.stream", { at: { x: 0, y: 0 } });
    edit.select("stream");
    edit.drop("filter");
    const before = findNode(edit.document(), "filter")?.position?.x ?? 0;
    edit.drop("peek", { at: { x: 250, y: 0 }, edge: "stream.out>filter.in" });
    const peek = findNode(edit.document(), "peek")?.position?.x ?? 0;
    const after = findNode(edit.document(), "filter")?.position?.x ?? 0;
    expect(after).toBeGreaterThan(before);
    expect(after - peek).toBeGreaterThanOrEqual(216);
  });

  test("a store is hung below the selected node", () => {
    edit.drop("source.stream");
    edit.drop("count");
    edit.drop("store.key_value");
    expect(edit.edges()).toContain("store.out>count.store");
    const count = findNode(edit.document(), "count")?.position;
    const store = findNode(edit.document(), "store")?.position;
    expect((store?.y ?? 0) - (count?.y ?? 0)).toBeGreaterThan(56);
  });

  test("a topology that may only be looked at stays as it is", () => {
    useDesigner.setState({ readOnly: true });
    expect(() => edit.drop("filter")).toThrow();
    expect(edit.document().nodes).toHaveLength(0);
    useDesigner.setState({ readOnly: false });
  });
});

describe("undo", () => {
  test("one entry for one gesture, selection included", async () => {
    edit.drop("source.stream");
    edit.drop("filter");
    await edit.undo();
    expect(edit.document().nodes.map((node) => node.id)).toEqual(["stream"]);
    expect(useDesigner.getState().selection.nodes).toEqual(["stream"]);
    await edit.run("redo");
    expect(edit.edges()).toEqual(["stream.out>filter.in"]);
  });

  test("says what it undid, in place of what it said before", async () => {
    const shown = vi.spyOn(notifications, "show");
    edit.drop("filter");
    const { label } = useDesigner.getState().history.past.at(-1) ?? {};
    await edit.undo();
    await edit.run("redo");
    expect(shown.mock.calls.map(([{ id, message }]) => [id, message])).toEqual([
      ["undo", `Undone on the canvas: ${label}`],
      ["undo", `Done again on the canvas: ${label}`],
    ]);
    shown.mockRestore();
  });

  test("all that is typed into one field is one entry", async () => {
    edit.drop("filter");
    const { change, endGesture } = useDesigner.getState();
    for (const text of ["v", "va", "val"]) {
      change(t("Predicate"), (now) => setParam(now, CATALOG, "filter", "predicate", text), {
        gesture: "param filter predicate",
      });
    }
    endGesture();
    change(t("Predicate"), (now) => setParam(now, CATALOG, "filter", "predicate", "value"), {
      gesture: "param filter predicate",
    });
    await edit.undo();
    expect(paramsOf(findNode(edit.document(), "filter") ?? { id: "", kind: "" }).predicate).toBe(
      "val",
    );
    await edit.undo();
    expect(findNode(edit.document(), "filter")?.params).toEqual({});
  });

  test("the history survives a reload of the page, but not a change made elsewhere", async () => {
    edit.drop("filter");
    const { document, topologyId } = useDesigner.getState();
    window.dispatchEvent(new Event("pagehide"));
    useDesigner.getState().open({ topologyId: topologyId ?? 0, document, catalog: CATALOG });
    expect(useDesigner.getState().history.past).toHaveLength(1);
    await edit.undo();
    expect(edit.document().nodes).toHaveLength(0);
    const other = setLabel(document, "filter", "Changed elsewhere");
    window.dispatchEvent(new Event("pagehide"));
    useDesigner.getState().open({ topologyId: topologyId ?? 0, document: other, catalog: CATALOG });
    expect(useDesigner.getState().history.past).toHaveLength(0);
  });

  test("Ctrl+Z in a text field is left to the field", () => {
    edit.drop("filter");
    const field = document.createElement("input");
    document.body.append(field);
    let handled = true;
    field.addEventListener("keydown", (event) => {
      handled = dispatch(event);
    });
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "z", ctrlKey: true, bubbles: true }));
    expect(handled).toBe(false);
    expect(edit.document().nodes).toHaveLength(1);
    field.remove();
  });
});

describe("deleting", () => {
  test("delete and reconnect joins the neighbors", async () => {
    edit.drop("source.stream");
    edit.drop("filter");
    edit.drop("sink.topic");
    edit.select("filter");
    await edit.run("delete-and-reconnect");
    expect(edit.edges()).toEqual(["stream.out>sink.in"]);
  });

  test("plain delete takes the edges along, and undo brings them back", async () => {
    edit.drop("source.stream");
    edit.drop("filter");
    edit.drop("sink.topic");
    edit.select("filter");
    await edit.run("delete");
    expect(edit.edges()).toEqual([]);
    await edit.undo();
    expect(edit.edges()).toHaveLength(2);
  });
});

describe("copy and paste", () => {
  test("copies carry their edges and get ids and store names of their own", () => {
    edit.drop("source.stream");
    edit.drop("count");
    edit.drop("store.key_value");
    edit.select("count", "store");
    const text = copiedText() ?? "";
    expect(pasteText(text)).toBe(true);
    expect(edit.edges()).toContain("store-2.out>count-2.store");
    const names = edit
      .document()
      .nodes.filter((node) => node.kind === "store.key_value")
      .map((node) => paramsOf(node).name);
    expect(new Set(names).size).toBe(2);
    expect(useDesigner.getState().selection.nodes).toEqual(["count-2", "store-2"]);
  });

  test("a whole document can be pasted, any other text cannot", () => {
    edit.drop("filter");
    const text = JSON.stringify(edit.document());
    edit = editor();
    expect(pasteText("value > 3")).toBe(false);
    expect(pasteText(text)).toBe(true);
    expect(edit.document().nodes).toHaveLength(1);
  });

  test("cut removes what was copied", () => {
    edit.drop("filter");
    edit.select("filter");
    removeCopied();
    expect(edit.document().nodes).toHaveLength(0);
  });

  test("duplicate puts the copy beside the original", async () => {
    edit.drop("filter", { at: { x: 0, y: 0 } });
    edit.select("filter");
    await edit.run("duplicate");
    const [first, second] = edit.document().nodes;
    expect(second?.id).toBe("filter-2");
    expect(second?.position?.x).toBeGreaterThan(first?.position?.x ?? 0);
  });
});

describe("connecting", () => {
  test("two selected nodes are connected whichever was selected first", async () => {
    edit.drop("source.stream", { at: { x: 0, y: 0 } });
    edit.drop("filter", { at: { x: 400, y: 0 } });
    edit.select("filter", "stream");
    expect(await edit.run("connect")).toBe(true);
    expect(edit.edges()).toEqual(["stream.out>filter.in"]);
  });

  test("a wire that does not fit is refused, one that fits is drawn", () => {
    edit.drop("source.stream", { at: { x: 0, y: 0 } });
    edit.drop("join.stream_table", { at: { x: 400, y: 0 } });
    expect(edit.connect("stream", "join.right")?.code).toBe("role");
    expect(edit.connect("stream", "join.left")).toBeNull();
  });
});

describe("keyboard", () => {
  test("arrows walk along edges", async () => {
    edit.drop("source.stream");
    edit.drop("filter");
    edit.select("stream");
    await edit.run("walk-right");
    expect(useDesigner.getState().selection.nodes).toEqual(["filter"]);
    await edit.run("walk-left");
    expect(useDesigner.getState().selection.nodes).toEqual(["stream"]);
  });

  test("Shift and an arrow selects all that follows", async () => {
    edit.drop("source.stream");
    edit.drop("filter");
    edit.drop("sink.topic");
    edit.select("stream");
    await edit.run("select-downstream");
    expect(useDesigner.getState().selection.nodes.toSorted()).toEqual(["filter", "sink", "stream"]);
  });

  test("no two commands have the same shortcut", () => {
    const keys = allCommands().flatMap((command) => command.shortcuts ?? []);
    expect(keys.filter((each, index) => keys.indexOf(each) !== index)).toEqual([]);
  });

  test("key presses are written as shortcuts are", () => {
    const key = (init: KeyboardEventInit) => pressed(new KeyboardEvent("keydown", init));
    expect(key({ key: "z", ctrlKey: true, shiftKey: true })).toBe("Mod+Shift+Z");
    expect(key({ key: "?", shiftKey: true })).toBe("?");
    expect(key({ key: "ArrowLeft", altKey: true })).toBe("Alt+ArrowLeft");
    expect(key({ key: "L", shiftKey: true })).toBe("Shift+L");
  });
});

describe("problems", () => {
  test("diagnostics are grouped by node, and the next problem is selected", async () => {
    edit.drop("source.stream", { at: { x: 0, y: 0 } });
    edit.drop("filter", { at: { x: 400, y: 0 } });
    edit.answer({
      diagnostics: [
        {
          code: "parameter_missing",
          severity: "error",
          node: "filter",
          parameter: "predicate",
          message: "The parameter predicate is missing.",
          hint: "Fill in “Predicate”.",
          facts: {},
          position: null,
          path: null,
          blocks: "compile",
        },
      ],
    });
    expect(edit.expectDiagnostics("filter")).toHaveLength(1);
    await edit.run("next-problem");
    expect(useDesigner.getState().focusRequest).toMatchObject({
      node: "filter",
      parameter: "predicate",
    });
  });

  test("an equal answer changes no object that a node draws from", () => {
    edit.drop("filter");
    edit.answer({
      ports: { filter: { out: { role: "stream", key: "A", value: "B", key_changed: false } } },
    });
    const before = useDesigner.getState().result?.ports.filter;
    edit.answer({
      ports: { filter: { out: { role: "stream", key: "A", value: "B", key_changed: false } } },
    });
    expect(useDesigner.getState().result?.ports.filter).toBe(before);
  });
});
