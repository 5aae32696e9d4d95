/** Common parts of the code editors: theme, error markers, key bindings. */

import {
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  completionStatus,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { describeDiagnostic } from "../../api/prose";
import type { Diagnostic } from "../../api/types";
import { openDialog } from "../../commands/dialogs";
import { offsetOf } from "../../problems/places";
import { t } from "../../ui/i18n";
import { OWN_ESCAPE } from "../../ui/useEscape";

const highlight = HighlightStyle.define([
  { tag: [tags.string, tags.special(tags.string)], color: "var(--m-code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--m-code-number)" },
  {
    tag: [
      tags.keyword,
      tags.operatorKeyword,
      tags.controlKeyword,
      tags.definitionKeyword,
      tags.typeName,
    ],
    color: "var(--m-code-keyword)",
  },
  {
    tag: [
      tags.function(tags.variableName),
      tags.function(tags.propertyName),
      tags.standard(tags.name),
    ],
    color: "var(--m-code-function)",
  },
  { tag: tags.className, color: "var(--m-code-function)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--m-code-comment)", fontStyle: "italic" },
  { tag: [tags.variableName, tags.propertyName, tags.name], color: "var(--m-code-name)" },
]);

const looks = EditorView.theme({
  "&": { fontSize: "12px", color: "var(--m-text)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": {
    fontFamily: "var(--m-mono)",
    padding: "5px 0",
    caretColor: "var(--m-accent-text)",
    lineHeight: "18px",
  },
  ".cm-line": { padding: "0 8px" },
  ".cm-scroller": { fontFamily: "var(--m-mono)", lineHeight: "18px", overflow: "auto" },
  ".cm-cursor": { borderLeftColor: "var(--m-accent-text)", borderLeftWidth: "1.5px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--m-accent) 26%, transparent) !important",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--m-pressed)",
    outline: "none",
  },
  ".cm-placeholder": { color: "var(--m-faint)" },
  ".cm-gutters": {
    backgroundColor: "transparent",
    color: "var(--m-faint)",
    border: "0",
    fontVariantNumeric: "tabular-nums",
  },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--m-muted)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--m-failed) 1px",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--m-degraded) 1px",
    textUnderlineOffset: "3px",
  },
  ".cm-tooltip, .cm-tooltip.cm-tooltip-autocomplete": {
    backgroundColor: "var(--m-raised)",
    color: "var(--m-text)",
    border: "1px solid var(--m-line)",
    borderRadius: "6px",
    boxShadow: "var(--m-float)",
    overflow: "hidden",
  },
  ".cm-tooltip-lint": { padding: "2px" },
  ".cm-diagnostic": {
    padding: "4px 8px",
    border: "0",
    fontFamily: "var(--m-font)",
    fontSize: "12px",
    maxWidth: "320px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--m-mono)",
    fontSize: "12px",
    maxHeight: "210px",
    padding: "3px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    padding: "2px 8px",
    borderRadius: "4px",
    lineHeight: "18px",
    display: "flex",
    gap: "10px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--m-accent-soft)",
    color: "var(--m-text)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", color: "var(--m-accent-text)" },
  ".cm-completionDetail": {
    marginLeft: "auto",
    color: "var(--m-faint)",
    fontStyle: "normal",
    fontSize: "12px",
  },
  ".cm-tooltip.cm-completionInfo": {
    padding: "8px 10px",
    maxWidth: "300px",
    fontFamily: "var(--m-font)",
    fontSize: "12px",
    color: "var(--m-muted)",
    whiteSpace: "pre-wrap",
  },
  ".cm-hover": { padding: "3px 8px", fontFamily: "var(--m-mono)", fontSize: "12px" },
});

/** Extensions of every editor of the page. */
export function baseExtensions(options: {
  labelId: string;
  readOnly: boolean;
  placeholder: string;
  onChange: (text: string) => void;
  onDone: () => void;
}): Extension {
  return [
    history(),
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    syntaxHighlighting(highlight),
    looks,
    EditorView.lineWrapping,
    placeholder(options.placeholder),
    EditorState.readOnly.of(options.readOnly),
    EditorState.phrases.of({ Completions: t("Completions") }),
    EditorView.contentAttributes.of({ "aria-labelledby": options.labelId, spellcheck: "false" }),
    // While completions are open, Escape closes them and not the dialog around the editor.
    EditorView.contentAttributes.of(
      (view): Record<string, string> =>
        completionStatus(view.state) === null ? {} : { [OWN_ESCAPE]: "true" },
    ),
    keymap.of([
      {
        // CodeMirror's default binding deletes to the end of the line.
        key: "Mod-k",
        run: () => {
          openDialog("commands");
          return true;
        },
      },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) options.onChange(update.state.doc.toString());
      if (update.focusChanged && !update.view.hasFocus) options.onDone();
    }),
  ];
}

/** Underlines the diagnostics; one without a position underlines the whole text. */
export function showDiagnostics(view: EditorView, diagnostics: readonly Diagnostic[]) {
  const length = view.state.doc.length;
  if (length === 0) {
    view.dispatch(setDiagnostics(view.state, []));
    return;
  }
  const text = view.state.doc.toString();
  const marks: Mark[] = diagnostics.map((each) => {
    const from = offsetOf(text, each.position?.start ?? 0);
    const to = Math.max(from, offsetOf(text, each.position?.stop ?? length));
    return {
      from: from === to && from > 0 ? from - 1 : from,
      to: from === to && from === 0 ? Math.min(1, length) : to,
      severity: each.severity === "difference" ? "info" : each.severity,
      message: [describeDiagnostic(each).message, describeDiagnostic(each).hint ?? ""]
        .filter((part) => part !== "")
        .join("\n"),
    };
  });
  view.dispatch(setDiagnostics(view.state, marks));
}
