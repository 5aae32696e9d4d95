/**
 * The files of a program as one text, so that they have one editor, one order of undo and one comparison of lines. A header
 * line, which cannot be typed, begins each file after the first.
 */

import {
  EditorState,
  type Extension,
  type Range,
  StateField,
  type Text,
  type Transaction,
} from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { SourceMapEntry } from "../api/types";

export const PROGRAM = "job.py";
/** Begins a header line. Source text has no such character at the beginning of a line. */
const HEADER = "\u001e";
/** What an editor would change. */
const OTHER = [HEADER, "\r"];

export interface ProgramFile {
  readonly path: string;
  readonly text: string;
}

/** The files as one text; null if one of them contains what separates files or lines. */
export function joined(files: readonly ProgramFile[]): string | null {
  if (files.some(({ text }) => OTHER.some((each) => text.includes(each)))) return null;
  const [first, ...others] = [...files].sort(
    (a, b) => Number(b.path === PROGRAM) - Number(a.path === PROGRAM),
  );
  if (first?.path !== PROGRAM) return null;
  return first.text + others.map(({ path, text }) => `\n${HEADER}${path}\n${text}`).join("");
}

/** The files of a text. */
export function filesOf(text: string): ProgramFile[] {
  const [first = "", ...others] = text.split(`\n${HEADER}`);
  return [
    { path: PROGRAM, text: first },
    ...others.map((each) => {
      const end = each.indexOf("\n");
      return end < 0
        ? { path: each, text: "" }
        : { path: each.slice(0, end), text: each.slice(end + 1) };
    }),
  ];
}

interface Section {
  readonly path: string;
  /** Number of the first line of the file in the whole text, counted from 1. */
  readonly first: number;
}

function sectionsOf(lines: Iterable<string>): Section[] {
  const found: Section[] = [{ path: PROGRAM, first: 1 }];
  let number = 0;
  for (const line of lines) {
    number += 1;
    if (line.startsWith(HEADER)) found.push({ path: line.slice(1), first: number + 1 });
  }
  return found;
}

/** The line of the whole text for a line of a file; null if there is no such file. */
export function lineOf(text: string, path: string, line: number): number | null {
  const found = sectionsOf(text.split("\n")).find((each) => each.path === path);
  return found === undefined ? null : found.first + line - 1;
}

/** A source map over the whole text. */
export function wholeMap(map: readonly SourceMapEntry[], text: string): readonly SourceMapEntry[] {
  const firsts = new Map(sectionsOf(text.split("\n")).map(({ path, first }) => [path, first]));
  if (firsts.size === 1) return map;
  return map.flatMap((span) => {
    const by = (firsts.get(span.path) ?? 0) - 1;
    return by < 0 ? [] : [{ ...span, path: PROGRAM, start: span.start + by, end: span.end + by }];
  });
}

class Header extends WidgetType {
  constructor(private readonly path: string) {
    super();
  }

  override eq(other: Header) {
    return other.path === this.path;
  }

  override toDOM() {
    const element = document.createElement("span");
    element.className = "cm-file";
    element.textContent = this.path;
    return element;
  }
}

interface Headers {
  readonly sections: readonly Section[];
  readonly widgets: DecorationSet;
  /** From the line break before a header to the one after it, alternating. */
  readonly guarded: readonly number[];
}

function headersOf(doc: Text): Headers {
  const widgets: Range<Decoration>[] = [];
  const guarded: number[] = [];
  const sections = sectionsOf(doc.iterLines());
  for (const { path, first } of sections.slice(1)) {
    const { from, to } = doc.line(first - 1);
    widgets.push(Decoration.replace({ widget: new Header(path) }).range(from, to));
    guarded.push(from - 1, Math.min(to + 1, doc.length));
  }
  return { sections, widgets: Decoration.set(widgets), guarded };
}

const headers = StateField.define<Headers>({
  create: ({ doc }) => headersOf(doc),
  update: (value, { docChanged, state }) => (docChanged ? headersOf(state.doc) : value),
  provide: (field) => [
    EditorView.decorations.from(field, ({ widgets }) => widgets),
    EditorView.atomicRanges.of((view) => view.state.field(field).widgets),
  ],
});

function isTyped(transaction: Transaction): boolean {
  return transaction.isUserEvent("input") || transaction.isUserEvent("delete");
}

/** Files below each other: headers with their paths, which typing leaves as they are. */
export function files(): Extension {
  return [
    headers,
    EditorState.changeFilter.of((transaction) =>
      isTyped(transaction) ? transaction.startState.field(headers).guarded : true,
    ),
    EditorView.clipboardInputFilter.of((text) => text.replaceAll(HEADER, "# ")),
    EditorView.clipboardOutputFilter.of((text) => text.replaceAll(HEADER, "# ")),
  ];
}

/** The file of a line of the editor. */
export function sectionAt(state: EditorState, line: number): Section {
  const { sections } = state.field(headers);
  return sections.findLast((each) => each.first <= line) ?? (sections[0] as Section);
}

/** The number of a line in its file; empty for a header. */
export function numberIn(line: number, state: EditorState): string {
  const { sections } = state.field(headers, false) ?? { sections: [] };
  if (sections.some((each) => each.first - 1 === line)) return "";
  const found = sections.findLast((each) => each.first <= line);
  return `${line - (found?.first ?? 1) + 1}`;
}
