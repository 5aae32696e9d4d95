import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useDesigner } from "../designer/store";
import { open } from "../testing/rendering";
import { openImport, useEditing } from "../versions/editing";
import { ImportDialog } from "./ImportDialog";

const WORDS = { format: "millrace.topology/1", name: "by-hand", nodes: [], edges: [] };
const lines = { id: "lines", kind: "source.stream", params: {} };
let asked: { name: string; program: string }[] = [];

/** The server's responses to requests for the document of a program, one after another. */
function answering(...answers: readonly (readonly [status: number, body: unknown])[]) {
  const left = [...answers];
  asked = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (!request.url.endsWith("/api/workspaces/main/programs")) return Response.json({});
    asked.push((await request.json()) as (typeof asked)[number]);
    const [status, body] = left.shift() ?? [500, {}];
    return Response.json(body, { status });
  });
}

function shown() {
  useDesigner.setState({
    catalog: { kinds: [] } as never,
    document: {
      ...WORDS,
      name: "Words",
      nodes: [{ ...lines, position: { x: 40, y: 8 } }],
    } as never,
  });
  useEditing.setState({ topology: 1 });
  openImport();
  open(<ImportDialog ws="main" />);
}

function choose(name: string, text: string) {
  const input = document.querySelector("input[type=file]");
  if (input === null) throw new Error("no input");
  fireEvent.change(input, { target: { files: [new File([text], name)] } });
}

function replacing(): HTMLButtonElement {
  return screen.getByTestId<HTMLButtonElement>("import-replace");
}

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("a program becomes the drawing, with the places of its nodes and the topology's name", async () => {
  answering([200, { document: { ...WORDS, nodes: [lines] }, problem: null }]);
  shown();
  choose("shop.py", "topology = ...");
  await waitFor(() => expect(replacing().disabled).toBe(false));
  expect(asked).toEqual([{ name: "shop.py", program: "topology = ..." }]);
  fireEvent.click(screen.getByTestId("import-replace"));
  await waitFor(() => expect(useEditing.getState().dialog).toBeNull());
  const { document } = useDesigner.getState();
  expect(document.name).toBe("Words");
  expect(document.nodes).toEqual([{ ...lines, position: { x: 40, y: 8 } }]);
}, 15_000);

test("the error of a program is in the dialog, with its line", async () => {
  const message = "shop.py, line 3: NameError: name 'x' is not defined";
  const problem = { code: "program_failed", message, node: null, file: "shop.py", line: 3 };
  answering([200, { document: null, problem }]);
  shown();
  choose("shop.py", "x");
  expect((await screen.findByTestId("import-problem")).textContent).toBe(message);
  expect(replacing().disabled).toBe(true);
});

test("a file that is neither is refused where it was chosen", async () => {
  shown();
  choose("notes.json", "[]");
  expect((await screen.findByTestId("import-problem")).textContent).toContain(
    "notes.json is not a topology",
  );
});
