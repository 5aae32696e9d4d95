/** A read-only CodeMirror in the page's colors, with lines that can be highlighted and clicked. */

import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import {
  EditorState,
  type Extension,
  RangeSetBuilder,
  StateEffect,
  StateField,
} from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { t } from "../ui/i18n";
import { files, numberIn } from "./files";

const colors = HighlightStyle.define([
  { tag: [tags.string, tags.special(tags.string)], color: "var(--m-code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--m-code-number)" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--m-code-keyword)" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.className],
    color: "var(--m-code-function)",
  },
  { tag: [tags.comment, tags.lineComment, tags.docString], color: "var(--m-code-comment)" },
  { tag: [tags.propertyName, tags.definition(tags.variableName)], color: "var(--m-code-name)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "12px", backgroundColor: "transparent", color: "var(--m-text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--m-mono)", lineHeight: "1.55" },
  ".cm-content": { padding: "8px 0", caretColor: "transparent" },
  ".cm-gutters": {
    backgroundColor: "transparent",
    border: "none",
    color: "var(--m-faint)",
    fontVariantNumeric: "tabular-nums",
  },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 12px 0 16px", minWidth: "44px" },
  ".cm-line": { padding: "0 16px 0 4px" },
  ".cm-lit": {
    backgroundColor: "var(--m-accent-soft)",
    boxShadow: "inset 2px 0 0 var(--m-accent)",
  },
  ".cm-owned": { cursor: "pointer" },
  ".cm-hovered": { backgroundColor: "var(--m-hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    {
      backgroundColor: "color-mix(in srgb, var(--m-accent) 24%, transparent)",
    },
});

interface LineMarks {
  /** First and last lines of the highlighted ranges, counted from 1. */
  readonly lit: readonly { start: number; end: number }[];
  readonly hovered: readonly { start: number; end: number }[];
}

export const setMarks = StateEffect.define<LineMarks>();

function marksOf(state: EditorState, marks: LineMarks): DecorationSet {
  const kinds = new Map<number, string>();
  const paint = (spans: LineMarks["lit"], className: string) => {
    for (const { start, end } of spans) {
      for (let line = start; line <= Math.min(end, state.doc.lines); line += 1) {
        kinds.set(line, className);
      }
    }
  };
  paint(marks.hovered, "cm-hovered");
  paint(marks.lit, "cm-lit");
  const builder = new RangeSetBuilder<Decoration>();
  for (const [line, className] of [...kinds].sort(([a], [b]) => a - b)) {
    const { from } = state.doc.line(line);
    builder.add(from, from, Decoration.line({ class: className }));
  }
  return builder.finish();
}

const lines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (value, transaction) => {
    for (const effect of transaction.effects) {
      if (effect.is(setMarks)) return marksOf(transaction.state, effect.value);
    }
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

export interface ViewerOptions {
  onLine(line: number): void;
  onHover(line: number | null): void;
  label: string;
}

function lineAt(view: EditorView, event: MouseEvent): number | null {
  const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
  return position === null ? null : view.state.doc.lineAt(position).number;
}

function languageOf(path: string): Extension {
  if (path.endsWith(".py")) return python();
  return path.endsWith(".json") ? json() : [];
}

/** The extensions of every read-only view, including the comparison of versions. */
export function reading(path: string): Extension {
  return [
    lineNumbers(),
    EditorState.readOnly.of(true),
    EditorState.phrases.of({ "$ unchanged lines": t("$ unchanged lines") }),
    syntaxHighlighting(colors),
    languageOf(path),
    look,
  ];
}

/** The look of a program that can be typed. */
export function writing(): Extension {
  return [
    lineNumbers({ formatNumber: numberIn }),
    files(),
    syntaxHighlighting(colors),
    python(),
    lines,
    EditorView.theme({
      ".cm-content": { caretColor: "var(--m-accent-text)" },
      // Long lines scroll below the numbers.
      ".cm-gutters": { backgroundColor: "var(--m-panel)" },
      ".cm-file": { color: "var(--m-muted)", fontWeight: "var(--m-strong)" },
    }),
    look,
  ];
}

/** The extensions of one side of a comparison, with its accessible name. */
export function comparing(label: string): Extension {
  return [apart, EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" })];
}

const apart = EditorView.theme({
  "&.cm-merge-a .cm-changedLine": { backgroundColor: "var(--m-failed-soft)" },
  "&.cm-merge-b .cm-changedLine": { backgroundColor: "var(--m-running-soft)" },
  // On a darker background, colors of code would have too little contrast.
  "&.cm-merge-a .cm-changedText": {
    background: "none",
    textDecoration: "underline 2px var(--m-failed)",
  },
  "&.cm-merge-b .cm-changedText": {
    background: "none",
    textDecoration: "underline 2px var(--m-running)",
  },
  ".cm-changedText": { textUnderlineOffset: "3px" },
  "&.cm-merge-a .cm-changedLineGutter": { background: "var(--m-failed)" },
  "&.cm-merge-b .cm-changedLineGutter": { background: "var(--m-running)" },
  ".cm-collapsedLines": {
    background: "var(--m-sunken)",
    color: "var(--m-muted)",
    fontFamily: "var(--m-font)",
  },
  // CodeMirror's default icons are missing from many fonts.
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '""' },
});

export function createViewer(parent: HTMLElement, options: ViewerOptions): EditorView {
  return new EditorView({ parent, state: viewerState("", "", options) });
}

export function viewerState(text: string, path: string, options: ViewerOptions): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      reading(path),
      lines,
      EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
      EditorView.domEventHandlers({
        click: (event, view) => {
          // A drag that selects text is not a click on a line.
          if (!view.state.selection.main.empty) return;
          const line = lineAt(view, event);
          if (line !== null) options.onLine(line);
        },
        mousemove: (event, view) => options.onHover(lineAt(view, event)),
        mouseleave: () => options.onHover(null),
      }),
    ],
  });
}
