/** Breakpoints beside the line numbers of an editor, and the line at which a simulation stopped. */

import {
  type EditorState,
  type Extension,
  RangeSet,
  RangeSetBuilder,
  StateEffect,
  StateField,
} from "@codemirror/state";
import {
  type BlockInfo,
  Decoration,
  type DecorationSet,
  EditorView,
  GutterMarker,
  gutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { t } from "../../ui/i18n";

class Dot extends GutterMarker {
  override toDOM() {
    const dot = document.createElement("span");
    dot.className = "cm-breakpoint";
    return dot;
  }
}

const DOT = new Dot();
const placed = StateEffect.define<readonly number[]>();
const stopped = StateEffect.define<number | null>();

function dotsAt(state: EditorState, lines: readonly number[]): RangeSet<GutterMarker> {
  const known = lines.filter((line) => line >= 1 && line <= state.doc.lines);
  return RangeSet.of(
    [...new Set(known)].sort((a, b) => a - b).map((line) => DOT.range(state.doc.line(line).from)),
  );
}

// Breakpoints move with the text.
const dots = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    const lines = transaction.effects.findLast((effect) => effect.is(placed));
    if (lines !== undefined) return dotsAt(transaction.state, lines.value);
    return set.map(transaction.changes);
  },
});

const stop = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    const at = transaction.effects.findLast((effect) => effect.is(stopped));
    if (at === undefined) return set.map(transaction.changes);
    const { doc } = transaction.state;
    if (at.value === null || at.value > doc.lines) return Decoration.none;
    const builder = new RangeSetBuilder<Decoration>();
    const { from } = doc.line(at.value);
    builder.add(from, from, Decoration.line({ class: "cm-stopped" }));
    return builder.finish();
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The lines with a breakpoint, from 1, in order; none in an editor without breakpoints. */
export function linesOf(state: EditorState): readonly number[] {
  const found = new Set<number>();
  const cursor = state.field(dots, false)?.iter();
  for (; cursor !== undefined && cursor.value !== null; cursor.next())
    found.add(state.doc.lineAt(cursor.from).number);
  return [...found];
}

function toggle(view: EditorView, at: number): boolean {
  const { number } = view.state.doc.lineAt(at);
  const lines = linesOf(view.state);
  const next = lines.includes(number)
    ? lines.filter((each) => each !== number)
    : [...lines, number];
  view.dispatch({ effects: placed.of(next) });
  return true;
}

const CLICKS = {
  mousedown: (view: EditorView, line: BlockInfo) => toggle(view, line.from),
  mouseover: (_: EditorView, __: BlockInfo, event: Event) => {
    (event.target as HTMLElement).title = t("Stop here in a simulation (F9)");
    return false;
  },
};

const LOOKS = EditorView.theme({
  ".cm-gutterElement": { cursor: "pointer" },
  ".cm-breakpoints .cm-gutterElement": {
    display: "flex",
    justifyContent: "center",
    width: "14px",
  },
  // In the first row of a line that is wrapped.
  ".cm-breakpoint, .cm-breakpoints .cm-gutterElement:hover:not(:has(.cm-breakpoint))::before": {
    width: "8px",
    height: "8px",
    marginTop: "5px",
    borderRadius: "50%",
    background: "var(--m-failed)",
  },
  ".cm-breakpoints .cm-gutterElement:hover:not(:has(.cm-breakpoint))::before": {
    content: '""',
    background: "var(--m-line-strong)",
  },
  ".cm-line.cm-stopped": {
    backgroundColor: "var(--m-degraded-soft)",
    boxShadow: "inset 2px 0 0 var(--m-degraded)",
  },
});

/** Line numbers with breakpoints; `onChange` gets their lines whenever these change. */
export function breakpoints(onChange: (lines: readonly number[]) => void): Extension {
  return [
    dots,
    stop,
    gutter({
      class: "cm-breakpoints",
      markers: (view) => view.state.field(dots),
      initialSpacer: () => DOT,
      domEventHandlers: CLICKS,
    }),
    lineNumbers({ domEventHandlers: CLICKS }),
    keymap.of([{ key: "F9", run: (view) => toggle(view, view.state.selection.main.head) }]),
    LOOKS,
    EditorView.updateListener.of((update) => {
      const lines = linesOf(update.state);
      if (lines.join() !== linesOf(update.startState).join()) onChange(lines);
    }),
  ];
}

/** Shows breakpoints that were set elsewhere. */
export function showBreakpoints(view: EditorView, lines: readonly number[]) {
  if (linesOf(view.state).join() !== [...lines].sort((a, b) => a - b).join())
    view.dispatch({ effects: placed.of(lines) });
}

/** Highlights the line at which a simulation stopped, and scrolls to it. */
export function showStop(view: EditorView, line: number | null) {
  const known = line !== null && line <= view.state.doc.lines;
  view.dispatch({
    effects: [
      stopped.of(line),
      ...(known
        ? [EditorView.scrollIntoView(view.state.doc.line(line).from, { y: "center" })]
        : []),
    ],
  });
}
