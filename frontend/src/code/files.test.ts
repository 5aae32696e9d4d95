// @vitest-environment happy-dom
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { expect, test } from "vitest";
import { files, filesOf, joined, lineOf, numberIn, PROGRAM, sectionAt, wholeMap } from "./files";

const FILES = [
  { path: "prices/__init__.py", text: "" },
  { path: PROGRAM, text: "a\nb\n" },
  { path: "prices/discount.py", text: "HALF = 0.5\n" },
];
const whole = joined(FILES) as string;

test("files become one text and are found again, the program first", () => {
  expect(filesOf(whole)).toEqual([FILES[1], FILES[0], FILES[2]]);
  expect(joined([{ path: PROGRAM, text: "a" }])).toBe("a");
  expect(filesOf("a\n")).toEqual([{ path: PROGRAM, text: "a\n" }]);
  for (const text of ["a\r\nb", "\u001ejob.py"]) {
    expect(joined([{ path: PROGRAM, text }])).toBeNull();
  }
});

test("lines and the source map of each file are those of the whole text", () => {
  const at = lineOf(whole, "prices/discount.py", 1) ?? 0;
  expect(whole.split("\n")[at - 1]).toBe("HALF = 0.5");
  expect(lineOf(whole, "gone.py", 1)).toBeNull();
  const map = [
    { node: "a", path: PROGRAM, start: 1, end: 1 },
    { node: "b", path: "prices/discount.py", start: 1, end: 1 },
    { node: "c", path: "gone.py", start: 1, end: 1 },
  ];
  expect(wholeMap(map, whole)).toEqual([map[0], { node: "b", path: PROGRAM, start: at, end: at }]);
});

test("typing and deleting leave the headers, and lines are counted in their files", () => {
  const view = new EditorView({ state: EditorState.create({ doc: whole, extensions: files() }) });
  const text = () => view.state.doc.toString();
  const at = lineOf(whole, "prices/discount.py", 1) ?? 0;
  expect(numberIn(at, view.state)).toBe("1");
  expect(numberIn(at - 1, view.state)).toBe("");
  expect(sectionAt(view.state, at).path).toBe("prices/discount.py");
  const { from } = view.state.doc.line(at);
  view.dispatch({ changes: { from, insert: "# half\n" }, userEvent: "input.type" });
  expect(filesOf(text())[2]?.text).toBe("# half\nHALF = 0.5\n");
  view.dispatch({ changes: { from: from - 1, to: from }, userEvent: "delete.backward" });
  view.dispatch({ changes: { from: from - 3, insert: "x" }, userEvent: "input.type" });
  expect(filesOf(text()).map(({ path }) => path)).toEqual([
    PROGRAM,
    FILES[0]?.path,
    FILES[2]?.path,
  ]);
  view.dispatch({ changes: { from: 0, to: text().length }, userEvent: "delete.selection" });
  expect(filesOf(text())).toEqual(
    [PROGRAM, "prices/__init__.py", "prices/discount.py"].map((path) => ({ path, text: "" })),
  );
});
