import type { EditorView } from "@codemirror/view";
import { EditorView as View } from "@codemirror/view";
import { useEffect, useMemo, useRef, useState } from "react";
import type { GeneratedCode } from "../api/types";
import { useDesigner } from "../designer/store";
import { t } from "../ui/i18n";
import classes from "./code.module.css";
import { createViewer, setMarks, type ViewerOptions, viewerState } from "./editor";
import { nodeAt, spansOf } from "./spans";

/** A generated file. The lines of the selected node are highlighted; a click on a line selects its node. */
export default function CodeViewer({ code }: { code: GeneratedCode }) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const [path, setPath] = useState("job.py");
  const file = code.files.find((each) => each.path === path) ?? code.files[0];
  const latest = useRef({ code, path: file?.path ?? "" });
  latest.current = { code, path: file?.path ?? "" };
  const selection = useDesigner((state) => state.selection);
  const hovered = useDesigner((state) => state.hovered);

  const options = useMemo<ViewerOptions>(
    () => ({
      label: t("Generated code"),
      onLine: (line) => {
        const node = nodeAt(latest.current.code.source_map, latest.current.path, line);
        if (node !== null) useDesigner.getState().goTo(node);
      },
      onHover: (line) => {
        const { code: now, path: at } = latest.current;
        const node = line === null ? null : nodeAt(now.source_map, at, line);
        useDesigner.getState().setHovered(node);
      },
    }),
    [],
  );

  useEffect(() => {
    if (host.current === null) return;
    const created = createViewer(host.current, options);
    view.current = created;
    return () => {
      created.destroy();
      view.current = null;
    };
  }, [options]);

  const text = file?.text ?? "";
  const shown = file?.path ?? "";
  useEffect(() => {
    // Keep the scroll position: a keystroke in the inspector must not move the code away.
    const top = view.current?.scrollDOM.scrollTop ?? 0;
    view.current?.setState(viewerState(text, shown, options));
    requestAnimationFrame(() => {
      if (view.current !== null) view.current.scrollDOM.scrollTop = top;
    });
  }, [text, shown, options]);

  // A new `text` comes with a new state without marks, so the lines are marked again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new `text` replaces the state and its marks
  useEffect(() => {
    view.current?.dispatch({
      effects: setMarks.of({
        lit: spansOf(code.source_map, shown, selection.nodes),
        hovered: hovered === null ? [] : spansOf(code.source_map, shown, [hovered]),
      }),
    });
  }, [code, shown, selection, hovered, text]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the selection changes, not when the code does
  useEffect(() => {
    const first = spansOf(code.source_map, shown, selection.nodes)[0];
    const editor = view.current;
    if (first === undefined || editor === null || first.start > editor.state.doc.lines) return;
    const { from } = editor.state.doc.line(first.start);
    editor.dispatch({ effects: View.scrollIntoView(from, { y: "nearest", yMargin: 48 }) });
  }, [selection]);

  return (
    <div className={classes.viewer}>
      {code.files.length > 1 ? (
        <nav className={classes.files} aria-label={t("Generated files")}>
          {code.files.map((each) => (
            <button
              key={each.path}
              type="button"
              className={classes.file}
              title={each.path}
              aria-current={each.path === shown}
              onClick={() => setPath(each.path)}
            >
              {each.path}
            </button>
          ))}
        </nav>
      ) : null}
      <div className={classes.host} ref={host} data-testid="code" />
    </div>
  );
}
