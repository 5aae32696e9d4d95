// @vitest-environment happy-dom
import { currentCompletions, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, runScopeHandlers } from "@codemirror/view";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pythonCompletion } from "./PythonEditor";

let view: EditorView;
const text = () => view.state.doc.toString();
const press = (key: string) =>
  runScopeHandlers(view, new KeyboardEvent("keydown", { key, cancelable: true }), "editor");

beforeEach(async () => {
  const doc = "counter = 1\ncounters = 2\ncounter";
  view = new EditorView({
    parent: document.body,
    state: EditorState.create({
      doc,
      selection: { anchor: doc.length },
      extensions: [python(), pythonCompletion(), keymap.of(defaultKeymap)],
    }),
  });
  startCompletion(view);
  await vi.waitFor(() => expect(currentCompletions(view.state).length).toBeGreaterThan(1));
});
afterEach(() => view.destroy());

test("Enter after a complete word makes a new line", () => {
  press("Enter");
  expect(text()).toBe("counter = 1\ncounters = 2\ncounter\n");
});

test("Tab inserts the first completion", () => {
  const first = currentCompletions(view.state)[0]?.label;
  press("Tab");
  expect(text()).toBe(`counter = 1\ncounters = 2\n${first}`);
});

test("Enter inserts a completion that was selected with an arrow key", () => {
  press("ArrowDown");
  press("ArrowDown");
  const second = currentCompletions(view.state)[1]?.label;
  press("Enter");
  expect(text()).toBe(`counter = 1\ncounters = 2\n${second}`);
});
