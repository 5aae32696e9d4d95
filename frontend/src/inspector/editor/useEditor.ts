import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { Diagnostic } from "../../api/types";
import { showDiagnostics } from "./base";

/**
 * Creates an editor once. Text that changes elsewhere (undo, another view) is applied without losing the cursor, and
 * diagnostics are shown as they change.
 */
export function useEditor(
  value: string,
  diagnostics: readonly Diagnostic[],
  make: (onChange: (text: string) => void) => Extension,
  onChange: (text: string) => void,
) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ make, onChange, value });
  latest.current.onChange = onChange;
  latest.current.value = value;
  const outside = useRef(false);

  useEffect(() => {
    if (box.current === null) return;
    const editor = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: latest.current.make((text) => {
          if (!outside.current) latest.current.onChange(text);
        }),
      }),
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const now = editor.state.doc.toString();
    if (now === value) return;
    outside.current = true;
    editor.dispatch({ changes: changed(now, value) });
    outside.current = false;
  }, [value]);

  useEffect(() => {
    if (view.current !== null) showDiagnostics(view.current, diagnostics);
  }, [diagnostics]);

  return { box, view };
}

/** The difference between two texts as a single change, so that the cursor and marks outside it stay. */
function changed(before: string, after: string) {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from += 1;
  let end = 0;
  while (end < most - from && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}
