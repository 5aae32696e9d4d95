import { EditorView } from "@codemirror/view";
import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Editor, editor } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { emptyDocument, findNode, type TopologyDocument } from "../graph/document";
import { render, until } from "../testing/rendering";
import { ProgramEditor } from "./ProgramEditor";
import { showProgram, useTyping } from "./typing";

/** Programs of this test: a line for each node, `x` or `x = settings`, and comments. */
function documentOf(program: string): TopologyDocument {
  const lines = program.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const nodes = lines.map((line) => ({ id: line, kind: "source.stream", params: {} }));
  return { ...emptyDocument("t"), nodes };
}

function programOf({ nodes }: TopologyDocument): string {
  return nodes.map((node) => `${node.id}\n`).join("");
}

let kit: Editor;
let unmount: () => Promise<void>;
let stop: () => void;
let answers = true;

const view = () => EditorView.findFromDOM(document.querySelector(".cm-editor") as HTMLElement);
const text = () => view()?.state.doc.toString() ?? "";
const nodes = () => kit.document().nodes.map((node) => node.id);

function type(insert: string, at = text().length) {
  return act(async () => view()?.dispatch({ changes: { from: at, insert }, userEvent: "input" }));
}

const run = (command: string) => act(async () => void (await kit.run(command)));

beforeEach(async () => {
  answers = true;
  localStorage.clear();
  sessionStorage.clear();
  // The server: programs with a line `boom` fail.
  vi.stubGlobal("fetch", async (request: Request) => {
    if (!answers) throw new TypeError("offline");
    if (request.url.endsWith("/compile")) {
      const { document } = await request.json();
      return Response.json({ code: { files: [{ path: "job.py", text: programOf(document) }] } });
    }
    if (!request.url.endsWith("/programs")) return Response.json({});
    const { program } = await request.json();
    const failing = program.split("\n").indexOf("boom");
    if (failing < 0) return Response.json({ document: documentOf(program), problem: null });
    const [file, line] = ["job.py", failing + 1];
    const message = `${file}, line ${line}: NameError: boom`;
    const problem = { code: "program_failed", message, node: null, file, line };
    return Response.json({ document: null, problem });
  });
  kit = editor(documentOf("a\n"));
  const show = () => {
    const { document, topologyId } = useDesigner.getState();
    showProgram(topologyId ?? 0, document, programOf(document), true);
  };
  show();
  let last = kit.document();
  stop = useDesigner.subscribe(({ document }) => {
    if (document === last) return;
    last = document;
    queueMicrotask(show);
  });
  unmount = await render(<ProgramEditor readOnly={false} />);
});

afterEach(async () => {
  stop();
  await unmount();
  vi.unstubAllGlobals();
});

test("undo goes back through the program and the canvas in the order of the changes", async () => {
  await type("# mine\nb\n");
  await until(() => expect(nodes()).toEqual(["a", "b"]));
  const b = findNode(kit.document(), "b")?.position;
  expect(b).not.toEqual(findNode(kit.document(), "a")?.position ?? { x: 0, y: 0 });
  await act(async () =>
    useDesigner.getState().change("Add" as never, (now) => ({
      ...now,
      nodes: [...now.nodes, { id: "c", kind: "source.stream", params: {} }],
    })),
  );
  await until(() => expect(text()).toBe("a\n# mine\nb\nc\n"));
  await type("boom\n");
  await until(() => expect(useTyping.getState().fault?.line).toBe(5));

  await run("undo");
  expect([text(), nodes()]).toEqual(["a\n# mine\nb\nc\n", ["a", "b", "c"]]);
  await run("undo");
  await until(() => expect([text(), nodes()]).toEqual(["a\n# mine\nb\n", ["a", "b"]]));
  await run("undo");
  await until(() => expect([text(), nodes()]).toEqual(["a\n", ["a"]]));
  await run("redo");
  await until(() => expect([text(), nodes()]).toEqual(["a\n# mine\nb\n", ["a", "b"]]));
  await run("redo");
  await until(() => expect([text(), nodes()]).toEqual(["a\n# mine\nb\nc\n", ["a", "b", "c"]]));
  expect(findNode(kit.document(), "b")?.position).toEqual(b);
  await run("redo");
  expect([text(), nodes()]).toEqual(["a\n# mine\nb\nc\nboom\n", ["a", "b", "c"]]);
});

test("text that is not drawn can be discarded, and undo brings it back", async () => {
  await type("boom\n");
  await until(() => expect(useTyping.getState().fault).not.toBeNull());
  await act(async () => (await import("../designer/pending")).pendingText()?.discard());
  await until(() => expect([text(), useTyping.getState().fault]).toEqual(["a\n", null]));
  await run("undo");
  expect(text()).toBe("a\nboom\n");
  await until(() => expect(useTyping.getState().fault?.line).toBe(2));
});

test("what is typed while the server does not respond is kept and drawn later", async () => {
  answers = false;
  await type("b\n");
  await until(() => expect(useTyping.getState().fault?.message).toContain("does not respond"));
  expect(nodes()).toEqual(["a"]);
  // Another tab, or this one after a reload, begins with the same text.
  const { topology } = useTyping.getState();
  expect(sessionStorage.getItem(`millrace.program.0.${topology}`)).toContain("a\\nb\\n");
  expect(localStorage.getItem(`millrace.program.0.${topology}`)).toContain("a\\nb\\n");
  answers = true;
  await until(() => expect(nodes()).toEqual(["a", "b"]));
  expect(useTyping.getState().fault).toBeNull();
  expect(localStorage.length).toBe(0);
});

test("comments are part of the document: another browser shows them, with what the canvas has changed since", async () => {
  await type("# mine\n", 0);
  await type("b\n");
  await until(() => expect(nodes()).toEqual(["a", "b"]));
  const written = kit.document();
  expect(written.drawing?.program).toEqual({ "job.py": "# mine\na\nb\n" });
  // Only comments: the topology is the same, and there is something to save.
  await type("# why\n");
  await until(() => expect(kit.document()).not.toBe(written));
  expect(kit.document().drawing?.program).toEqual({ "job.py": "# mine\na\nb\n# why\n" });

  const kept = kit.document();
  const more = { id: "c", kind: "source.stream", params: {} };
  for (const [document, text_] of [
    [kept, "# mine\na\nb\n# why\n"],
    [{ ...kept, nodes: [...kept.nodes, more] }, "# mine\na\nb\nc\n# why\n"],
  ] as const) {
    localStorage.clear();
    sessionStorage.clear();
    await act(async () => {
      kit = editor(document);
    });
    const { topologyId } = useDesigner.getState();
    await act(async () => showProgram(topologyId ?? 0, document, programOf(document), true));
    await until(() => expect([...text()].sort()).toEqual([...text_].sort()));
    expect(text()).toContain("# mine\na\nb\n");
    expect(kit.document()).toBe(document);
  }
});
