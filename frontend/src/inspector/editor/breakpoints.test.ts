// @vitest-environment happy-dom
import { EditorState } from "@codemirror/state";
import { EditorView, runScopeHandlers } from "@codemirror/view";
import { afterEach, expect, test } from "vitest";
import { breakpoints, linesOf, showBreakpoints, showStop } from "./breakpoints";

let view: EditorView;
let changes: (readonly number[])[];

function open(text: string) {
  changes = [];
  view = new EditorView({
    parent: document.body,
    state: EditorState.create({
      doc: text,
      extensions: breakpoints((lines) => changes.push(lines)),
    }),
  });
}

afterEach(() => view.destroy());

const press = () => runScopeHandlers(view, new KeyboardEvent("keydown", { key: "F9" }), "editor");

test("F9 sets a breakpoint at the cursor's line, and removes it", () => {
  open("a\nb\nc");
  view.dispatch({ selection: { anchor: 2 } });
  press();
  expect(linesOf(view.state)).toEqual([2]);
  press();
  expect(changes).toEqual([[2], []]);
});

test("breakpoints move with the text and go with their line", () => {
  open("a\nb\nc\nd");
  showBreakpoints(view, [4, 2]);
  view.dispatch({ changes: { from: 0, insert: "new\n" } });
  expect(linesOf(view.state)).toEqual([3, 5]);
  // Deletes the third line with its newline.
  view.dispatch({ changes: { from: 6, to: 8 } });
  expect(linesOf(view.state)).toEqual([3, 4]);
  expect(changes.at(-1)).toEqual([3, 4]);
});

test("lines that the text does not have are left out, and nothing is notified twice", () => {
  open("a\nb");
  showBreakpoints(view, [1, 9]);
  showBreakpoints(view, [1]);
  expect(changes).toEqual([[1]]);
});

test("the line of a stop is marked until there is none", () => {
  open("a\nb\nc");
  showStop(view, 2);
  expect(view.dom.querySelector(".cm-stopped")?.textContent).toBe("b");
  showStop(view, 99);
  showStop(view, null);
  expect(view.dom.querySelector(".cm-stopped")).toBeNull();
});
