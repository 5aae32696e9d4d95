import {
  defaultKeymap,
  history,
  indentWithTab,
  isolateHistory,
  redo,
  undo,
} from "@codemirror/commands";
import { indentUnit } from "@codemirror/language";
import { type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { EditorState, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { useEffect, useMemo, useRef } from "react";
import { describeDiagnostic } from "../api/prose";
import type { SourceMapEntry } from "../api/types";
import { canvas } from "../designer/canvasApi";
import { setPending } from "../designer/pending";
import { useDesigner } from "../designer/store";
import { t } from "../ui/i18n";
import classes from "./code.module.css";
import { setMarks, writing } from "./editor";
import { joined, lineOf, PROGRAM, sectionAt, wholeMap } from "./files";
import { hunks, mapOf } from "./following";
import { nodeAt, spansOf } from "./spans";
import { prepareReading, typeProgram, useTyping } from "./typing";

const NO_MAP: readonly SourceMapEntry[] = [];

/** The differing lines of two texts as changes of an editor, so that the cursor stays in its line. */
function changesBetween(before: string, after: string) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const starts = [0];
  for (const line of old) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const differing = hunks(old, now);
  if (differing.some(({ to }) => to === old.length)) {
    let from = 0;
    while (from < before.length && before[from] === after[from]) from += 1;
    let end = 0;
    const most = Math.min(before.length, after.length) - from;
    while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
    return [{ from, to: before.length - end, insert: after.slice(from, after.length - end) }];
  }
  return differing.map(({ from, to, start, end }) => ({
    from: starts[from] ?? 0,
    to: starts[to] ?? before.length,
    insert: now
      .slice(start, end)
      .map((line) => `${line}\n`)
      .join(""),
  }));
}

/** Undo and redo of text that is not on the canvas yet; everything else is in the history of the topology. */
function pendingOf(view: EditorView) {
  let undone = 0;
  /** The place in the history of the topology at which text was undone. */
  let undoneAt = "";
  let discarded = false;
  const place = () => {
    const { future, past } = useDesigner.getState().history;
    return `${past.length} ${future.length}`;
  };
  const redoable = () => undone > 0 && undoneAt === place();
  const pending = () => useTyping.getState().text !== useTyping.getState().sound;
  return {
    /** Called for text that is typed. */
    forget: () => {
      undone = 0;
      discarded = false;
    },
    /** Called when a text has reached the canvas. */
    drawn: () => {
      discarded = false;
    },
    discard: () => {
      const { sound } = useTyping.getState();
      const changes = changesBetween(view.state.doc.toString(), sound);
      const annotations = isolateHistory.of("full");
      view.dispatch({ changes, annotations, filter: false, userEvent: "delete" });
      discarded = true;
    },
    canUndo: () => pending() || discarded,
    canRedo: redoable,
    undo: () => {
      if (!(pending() || discarded) || !undo(view)) return false;
      if (discarded) discarded = false;
      else {
        undone = redoable() ? undone + 1 : 1;
        undoneAt = place();
      }
      return true;
    },
    redo: () => {
      if (!redoable() || !redo(view)) return false;
      undone -= 1;
      return true;
    },
  };
}

/** The nodes whose lines are highlighted: the chosen one of a fragment, or all that are selected. */
function chosenIn({ inner, nodes }: { inner?: string | undefined; nodes: readonly string[] }) {
  return inner === undefined ? nodes : [inner];
}

/** Selects the node of a line: one of the canvas, or one within a fragment. */
function selectWritten(node: string) {
  const { document, result, select, selection } = useDesigner.getState();
  const owner = Object.entries(result?.fragments ?? {}).find(([, { nodes }]) =>
    nodes.some((each) => each.id === node),
  );
  const [nodes, inner] = owner === undefined ? [[node], undefined] : [[owner[0]], node];
  if (owner === undefined && document.nodes.every((each) => each.id !== node)) return;
  const chosen = nodes.every((each) => selection.nodes.includes(each));
  if (!chosen || (inner !== undefined && inner !== selection.inner)) select({ nodes, inner });
}

/** The program as an editor. The cursor selects its node, and the lines of the selected nodes are highlighted. */
export function ProgramEditor(props: {
  readOnly: boolean;
  /** Called with the file of the cursor. */
  onFile?: (path: string) => void;
  /** Receives the function that shows a file. */
  showFile?: { current: (path: string) => void };
}) {
  const { readOnly, showFile } = props;
  const followed = useRef(props.onFile);
  followed.current = props.onFile;
  const host = useRef<HTMLDivElement>(null);
  const typed = useRef<ReturnType<typeof pendingOf> | null>(null);
  const view = useRef<EditorView | null>(null);
  const { base, fault, sound, text } = useTyping();
  const result = useDesigner((state) => state.result);
  const selection = useDesigner((state) => state.selection);
  const hovered = useDesigner((state) => state.hovered);
  const lastMap = useRef(NO_MAP);
  // The map belongs to `base`: that of a newer program is used when its text is followed.
  const code = result?.code;
  if (code && joined(code.files) === base) lastMap.current = wholeMap(code.source_map, base);
  const generated = lastMap.current;
  const map = useMemo(() => mapOf(generated, base, text), [generated, base, text]);
  const latest = useRef(map);
  latest.current = map;

  useEffect(() => {
    if (host.current === null) return;
    let outside = () => {};
    const onFile = (path: string) => followed.current?.(path);
    const step = (how: "undo" | "redo") => () => {
      const designer = useDesigner.getState();
      if (!pending[how]()) designer[how]();
      return true;
    };
    const editor: EditorView = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: useTyping.getState().text,
        extensions: [
          history(),
          drawSelection(),
          writing(),
          indentUnit.of("    "),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({
            "aria-label": t("Program"),
            spellcheck: "false",
            tabindex: "0",
          }),
          keymap.of([
            { key: "Mod-z", run: step("undo"), shift: step("redo") },
            { key: "Mod-y", run: step("redo") },
            {
              // Tab indents, so that another key leaves the editor.
              key: "Escape",
              run: (own) => {
                own.contentDOM.blur();
                const [node] = useDesigner.getState().selection.nodes;
                if (node !== undefined) canvas()?.focusNode(node);
                return true;
              },
            },
            ...(readOnly ? [] : [indentWithTab]),
            ...defaultKeymap,
          ]),
          EditorView.updateListener.of((update) => {
            const own = update.transactions.some(
              (each) => each.annotation(Transaction.addToHistory) !== false,
            );
            if (update.docChanged && own) {
              const steps = (each: Transaction) =>
                each.isUserEvent("undo") || each.isUserEvent("redo");
              if (!update.transactions.some(steps)) outside();
              typeProgram(update.state.doc.toString());
            }
            if (update.focusChanged && update.view.hasFocus && !readOnly) prepareReading();
            if (!update.selectionSet || update.docChanged || !update.view.hasFocus) return;
            const line = update.state.doc.lineAt(update.state.selection.main.head).number;
            onFile(sectionAt(update.state, line).path);
            const node = nodeAt(latest.current, PROGRAM, line);
            if (node !== null) selectWritten(node);
          }),
        ],
      }),
    });
    const pending = pendingOf(editor);
    outside = () => pending.forget();
    setPending(pending);
    typed.current = pending;
    view.current = editor;
    if (showFile !== undefined) {
      showFile.current = (path) => {
        const line = lineOf(editor.state.doc.toString(), path, 1) ?? 1;
        const { from } = editor.state.doc.line(Math.min(line, editor.state.doc.lines));
        const effects = EditorView.scrollIntoView(from, { y: "start", yMargin: 32 });
        editor.dispatch({ selection: { anchor: from }, effects });
        editor.focus();
        onFile(path);
      };
    }
    return () => {
      setPending(null);
      typed.current = null;
      view.current = null;
      editor.destroy();
    };
  }, [readOnly, showFile]);

  useEffect(() => {
    const editor = view.current;
    const now = editor?.state.doc.toString();
    if (editor === null || now === undefined || now === text) return;
    editor.dispatch({
      changes: changesBetween(now, text),
      filter: false,
      annotations: [Transaction.addToHistory.of(false), isolateHistory.of("full")],
    });
  }, [text]);

  // What is typed next is undone apart from what is on the canvas.
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each text that reaches the canvas
  useEffect(() => {
    typed.current?.drawn();
    view.current?.dispatch({ annotations: isolateHistory.of("full") });
  }, [sound]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() !== text) return;
    editor.dispatch({
      effects: setMarks.of({
        lit: spansOf(map, PROGRAM, chosenIn(selection)),
        hovered: hovered === null ? [] : spansOf(map, PROGRAM, [hovered]),
      }),
    });
    const at = (line: number) => editor.state.doc.line(Math.min(line, editor.state.doc.lines));
    const marks: Mark[] = (result?.diagnostics ?? []).flatMap((each) => {
      const node = each.inner ?? each.node;
      const span = node === null ? undefined : spansOf(map, PROGRAM, [node])[0];
      if (span === undefined || each.severity === "difference") return [];
      const { message } = describeDiagnostic(each);
      const { from, to } = at(span.start);
      return [{ from, to, severity: each.severity, message }];
    });
    if (fault !== null) {
      const line = fault.line ?? spansOf(map, PROGRAM, [fault.node ?? ""])[0]?.start;
      if (line !== undefined)
        marks.push({ ...at(line), severity: "error", message: fault.message });
    }
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [map, text, selection, hovered, fault, result]);

  useEffect(() => {
    const editor = view.current;
    const first = spansOf(latest.current, PROGRAM, chosenIn(selection))[0];
    if (editor === null || first === undefined || editor.hasFocus) return;
    const line = Math.min(first.start, editor.state.doc.lines);
    editor.dispatch({
      effects: EditorView.scrollIntoView(editor.state.doc.line(line).from, {
        y: "nearest",
        yMargin: 48,
      }),
    });
  }, [selection]);

  return <div className={classes.typed} ref={host} data-testid="program" />;
}
