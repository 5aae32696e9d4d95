import {
  acceptCompletion,
  autocompletion,
  completeAnyWord,
  completionStatus,
  selectedCompletionIndex,
  setSelectedCompletion,
} from "@codemirror/autocomplete";
import { indentWithTab } from "@codemirror/commands";
import { globalCompletion, localCompletionSource, python } from "@codemirror/lang-python";
import { indentUnit } from "@codemirror/language";
import { Prec } from "@codemirror/state";
import { type EditorView, keymap, tooltips } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { Diagnostic } from "../../api/types";
import type { StoreClasses } from "../../graph/stores";
import { isMissing } from "../../problems/places";
import { baseExtensions } from "./base";
import { breakpoints, showBreakpoints, showStop } from "./breakpoints";
import { memberCompletion, memberOnHover } from "./processorApi";
import { useEditor } from "./useEditor";

/** Tab inserts the selected completion, or the first one. */
function completeWithTab(view: EditorView): boolean {
  if (completionStatus(view.state) !== "active") return false;
  if (selectedCompletionIndex(view.state) === null)
    view.dispatch({ effects: setSelectedCompletion(0) });
  return acceptCompletion(view);
}

/** Completion of Python. Enter makes a new line unless a completion was selected with the arrow keys. */
export function pythonCompletion(stores: () => StoreClasses = () => ({})) {
  return [
    autocompletion({
      icons: false,
      selectOnOpen: false,
      interactionDelay: 0,
      override: [
        memberCompletion(stores),
        localCompletionSource,
        globalCompletion,
        completeAnyWord,
      ],
    }),
    Prec.high(keymap.of([{ key: "Tab", run: completeWithTab }])),
  ];
}

/** An editor for the source of a processor. */
export default function PythonEditor(props: {
  value: string;
  diagnostics: readonly Diagnostic[];
  labelId: string;
  readOnly: boolean;
  height: "panel" | "window";
  /** Lines with a breakpoint; `stopped` is the line at which a simulation stopped. */
  lines: readonly number[];
  stopped: number | null;
  /** The class of each connected store, by name. */
  stores: StoreClasses;
  onBreakpoints: (lines: readonly number[]) => void;
  onChange: (text: string) => void;
  onDone: () => void;
}) {
  const { diagnostics, height, labelId, onChange, readOnly, value } = props;
  const latest = useRef(props);
  latest.current = props;
  const { box, view } = useEditor(
    value,
    diagnostics,
    (changed) => [
      breakpoints((lines) => latest.current.onBreakpoints(lines)),
      python(),
      indentUnit.of("    "),
      pythonCompletion(() => latest.current.stores),
      memberOnHover(() => latest.current.stores),
      tooltips({ parent: document.body }),
      keymap.of([indentWithTab]),
      baseExtensions({
        labelId,
        readOnly,
        placeholder: "class Counter(Processor):",
        onChange: changed,
        onDone: () => latest.current.onDone(),
      }),
    ],
    onChange,
  );
  const { lines, stopped } = props;
  useEffect(() => {
    if (view.current !== null) showBreakpoints(view.current, lines);
  }, [lines, view]);
  useEffect(() => {
    if (view.current !== null) showStop(view.current, stopped);
  }, [stopped, view]);
  return (
    <div
      className="editor editor-code"
      data-height={height}
      ref={box}
      data-error={
        diagnostics.some((each) => each.severity === "error" && !isMissing(each)) || undefined
      }
      data-readonly={readOnly || undefined}
    />
  );
}
