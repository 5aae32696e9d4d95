/**
 * The program that is typed beside the canvas, and the canvas, which follow each other (ADR 54).
 *
 * `base` is the program of the canvas, `sound` the last text whose document is on the canvas, `text` what is shown. The
 * text may have faults or be unread; the browser keeps it then.
 */

import { create } from "zustand";
import { compileDocument } from "../api/compileCalls";
import { placed } from "../designer/placing";
import { useDesigner } from "../designer/store";
import type { Catalog } from "../graph/catalog";
import { moveNodes } from "../graph/changes";
import { type Position, positionOf, type TopologyDocument } from "../graph/document";
import { placesOf } from "../graph/geometry";
import { setWritten, writtenOf } from "../graph/written";
import { t } from "../ui/i18n";
import { useEditing } from "../versions/editing";
import { canonical } from "../versions/merge";
import { documentOf, ProgramFault } from "../versions/programs";
import { filesOf, joined, lineOf, PROGRAM } from "./files";
import { follow, followReading, sameMeaning, withoutPlace } from "./following";
import { keepTyped, readTyped } from "./kept";

interface Fault {
  readonly message: string;
  /** The line of the whole text. */
  readonly line: number | null;
  readonly node: string | null;
}

interface TypingState {
  readonly topology: number | null;
  readonly base: string;
  readonly sound: string;
  readonly text: string;
  readonly fault: Fault | null;
  readonly reading: boolean;
  /** Whether the canvas has replaced typed lines since the last edit of the text. */
  readonly replaced: boolean;
}

const NOTHING: TypingState = {
  topology: null,
  base: "",
  sound: "",
  text: "",
  fault: null,
  reading: false,
  replaced: false,
};

export const useTyping = create<TypingState>()(() => NOTHING);

/** Longest text that the server reads. */
const LONGEST = 500_000;
/** Between the last key and the reading. */
const PAUSE_MS = 250;
const AGAIN_MS = 1_500;
/** This page's readings of what is typed: the newest one ends the one before. */
const RUN = `program ${crypto.randomUUID?.() ?? Math.random()}`;

/** The text that was shown for a document, so that undo brings it back with its comments. */
const texts = new WeakMap<TopologyDocument, string>();
let readings = new Map<string, Promise<TopologyDocument>>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** Whether the canvas changed lines that are being typed, so that `base` is not its program. */
let diverged = false;

function keep(): void {
  const { base, sound, text, topology } = useTyping.getState();
  if (topology === null) return;
  keepTyped(useEditing.getState().user, topology, text === base ? null : { base, sound, text });
}

function isPending({ sound, text }: TypingState): boolean {
  return text !== sound;
}

/** The written program of the document that was shown last. */
let written = "";

/** The written program of a document as one text; empty if there is none. */
function writtenIn(document: TopologyDocument): string {
  const files = Object.entries(writtenOf(document) ?? {});
  return joined(files.map(([path, text]) => ({ path, text }))) ?? "";
}

/**
 * Shows the generated program of a document on the canvas, with what was typed in it. `editable`: whether this person may
 * have it read.
 */
export function showProgram(
  topology: number,
  document: TopologyDocument,
  program: string,
  editable: boolean,
): void {
  const before = written;
  written = writtenIn(document);
  if (useTyping.getState().topology !== topology) {
    clearTimeout(timer);
    readings = new Map();
    diverged = false;
    const typed = readTyped(useEditing.getState().user, topology);
    const shown = typed ?? { base: program, sound: program, text: program };
    useTyping.setState({ ...NOTHING, topology, ...shown });
    if (isPending(useTyping.getState())) readSoon();
    if (typed === null && editable) void bring(topology, document, program, written);
  }
  const now = useTyping.getState();
  const known = texts.get(document);
  if (isPending(now) && known !== undefined && known === now.sound) {
    // The canvas was changed by the text, which goes on being typed.
    useTyping.setState({ base: program });
  } else if (isPending(now)) {
    const text = follow(now.base, now.text, program);
    const sound = follow(now.base, now.sound, program);
    // While lines that are being typed differ from the canvas's, the text stays as it is.
    if (text.replaced || sound.replaced) {
      diverged = true;
      return;
    }
    useTyping.setState({ base: program, sound: sound.text, text: text.text });
  } else {
    const { text, replaced } =
      known === undefined ? follow(now.base, now.text, program) : { text: known, replaced: false };
    useTyping.setState({ base: program, sound: text, text, fault: null, replaced });
    texts.set(document, text);
    diverged = false;
    if (known === undefined && editable && written !== "" && written !== before) {
      void bring(topology, document, program, written);
    } else if (known === undefined && text !== program) {
      void check(now, document, program, text);
    }
  }
  keep();
}

/** Shows the canvas's program instead of a merged text that does not yield the document of the canvas. */
async function check(
  before: TypingState,
  document: TopologyDocument,
  program: string,
  text: string,
): Promise<void> {
  const { ws } = useEditing.getState();
  let yields: boolean;
  try {
    const typed = await readingOf(ws, before.sound);
    const from = await readingOf(ws, before.base);
    const to = await readingOf(ws, program);
    yields = sameMeaning(followReading(typed, from, to).document, await readingOf(ws, text));
  } catch (failure) {
    if (!(failure instanceof ProgramFault) || failure.unread) return;
    yields = false;
  }
  const now = useTyping.getState();
  if (yields || now.topology !== before.topology || now.text !== text || now.base !== program)
    return;
  texts.set(document, program);
  useTyping.setState({ sound: program, text: program, replaced: true });
  keep();
}

/**
 * Shows the text that somebody wrote, which came with a document, instead of its generated program. Where the canvas has
 * changed since, its lines count.
 */
async function bring(
  topology: number,
  document: TopologyDocument,
  program: string,
  mine: string,
): Promise<void> {
  if (mine === "" || mine === program) return;
  const { ws } = useEditing.getState();
  let text = mine;
  try {
    const [read, drawn] = await Promise.all([readingOf(ws, mine), readingOf(ws, program)]);
    if (!sameMeaning(read, drawn)) {
      const { code } = await compileDocument(ws, read, 0);
      const base = code === null ? null : joined(code.files);
      if (base === null) return;
      text = follow(base, mine, program).text;
      if (!sameMeaning(await readingOf(ws, text), drawn)) return;
    }
  } catch {
    // The generated program is shown.
    return;
  }
  const now = useTyping.getState();
  if (now.topology !== topology || now.base !== program || now.sound !== program) return;
  texts.set(document, text);
  // What was typed since then is an edit of the generated program.
  const shown = isPending(now) ? follow(program, text, now.text).text : text;
  useTyping.setState({ sound: text, text: shown });
  keep();
  if (shown !== text) readSoon();
}

export function typeProgram(text: string): void {
  useTyping.setState({ text, replaced: false });
  keep();
  readSoon();
}

function readSoon(after = PAUSE_MS): void {
  clearTimeout(timer);
  timer = setTimeout(() => void read(), after);
}

/** Reads the text that is being edited, which starts what reads programs before it is needed. */
export function prepareReading(): void {
  const { sound } = useTyping.getState();
  readingOf(useEditing.getState().ws, sound).catch(() => undefined);
}

function requestOf(text: string, run?: string) {
  const [program, ...others] = filesOf(text);
  const files = Object.fromEntries(others.map((each) => [each.path, each.text]));
  return { name: PROGRAM, program: program?.text ?? "", files, ...(run && { run }) };
}

function readingOf(ws: string, text: string, run?: string): Promise<TopologyDocument> {
  const found = readings.get(text) ?? documentOf(ws, requestOf(text, run));
  readings.delete(text);
  readings.set(text, found);
  found.catch(() => readings.delete(text));
  const [oldest] = readings.keys();
  if (readings.size > 8 && oldest !== undefined) readings.delete(oldest);
  return found;
}

/** The document of the canvas as a program: of its text or, if an older page has left one that fails, of its program. */
function soundReading(ws: string, sound: string): Promise<TopologyDocument> {
  return readingOf(ws, sound).catch((failure: unknown) => {
    const { base } = useTyping.getState();
    if (base === sound || (failure instanceof ProgramFault && failure.unread)) throw failure;
    return readingOf(ws, base);
  });
}

const inlined = (node: string) =>
  t(
    {
      id: "code.node_is_of_a_fragment",
      message:
        "{node} belongs to a fragment that no function can express, so its nodes are written out. Change the fragment on its own canvas.",
    },
    { node },
  );

async function read(): Promise<void> {
  const { sound, text, topology } = useTyping.getState();
  const { ws } = useEditing.getState();
  const unchanged = () => {
    const now = useTyping.getState();
    return now.topology === topology && now.text === text && now.sound === sound;
  };
  if (text === sound) {
    useTyping.setState({ fault: null, reading: false });
    return;
  }
  if (text.length > LONGEST) {
    const message = t("A program has up to {n} characters.", { n: LONGEST });
    useTyping.setState({ fault: { message, line: null, node: null } });
    return;
  }
  useTyping.setState({ reading: true });
  try {
    const before = await soundReading(ws, sound);
    const after = await readingOf(ws, text, RUN);
    const foreign = withoutPlace(useDesigner.getState().document, before, after);
    if (foreign !== undefined) throw new Error(inlined(foreign));
    if (unchanged()) await apply(before, after, unchanged);
  } catch (failure) {
    if (!unchanged()) return;
    const { message } = failure as Error;
    const found = failure instanceof ProgramFault ? failure : null;
    const { file = null, line = null, node = null } = found ?? {};
    const at = line === null ? null : lineOf(text, file ?? PROGRAM, line);
    useTyping.setState({ fault: { message, line: at, node } });
    if (failure instanceof ProgramFault && failure.unread) readSoon(AGAIN_MS);
  } finally {
    if (useTyping.getState().text === text) useTyping.setState({ reading: false });
    if (useTyping.getState().text === text && !unchanged()) readSoon();
  }
}

const NOWHERE: ReadonlyMap<string, Position> = new Map();

/** Places for the nodes that a reading adds. Those of a drawing without any others are arranged. */
async function placesIn(
  drawn: TopologyDocument,
  before: TopologyDocument,
  after: TopologyDocument,
  catalog: Catalog,
): Promise<ReadonlyMap<string, Position>> {
  const { document, unplaced } = followReading(drawn, before, after);
  if (unplaced.length < document.nodes.length) return placesOf(document, catalog, unplaced);
  const { nodes } = await placed(document, catalog);
  return new Map(nodes.map((node) => [node.id, positionOf(node)]));
}

/** The document with places for the nodes that a reading adds to a definition that has places. */
function placedInside(document: TopologyDocument, catalog: Catalog): TopologyDocument {
  if (document.fragments === undefined) return document;
  const fragments = Object.entries(document.fragments).map(([reference, each]) => {
    const definition = { name: "", ...each } as TopologyDocument;
    const missing = definition.nodes.filter(({ position }) => position === undefined);
    if (missing.length === 0 || missing.length === definition.nodes.length)
      return [reference, each];
    const ids = missing.map(({ id }) => id);
    const { name: _name, ...made } = moveNodes(definition, placesOf(definition, catalog, ids));
    return [reference, made];
  });
  return { ...document, fragments: Object.fromEntries(fragments) };
}

/** Changes the canvas as the text changed, in one step of undo. */
async function apply(
  before: TopologyDocument,
  after: TopologyDocument,
  unchanged: () => boolean,
): Promise<void> {
  const { catalog, change, document: drawn } = useDesigner.getState();
  const places = catalog === null ? NOWHERE : await placesIn(drawn, before, after, catalog);
  if (!unchanged()) return;
  const { text } = useTyping.getState();
  const same = useDesigner.getState().document === drawn;
  useTyping.setState({ sound: text, fault: null });
  change(t("Edit the program"), (now) => {
    const { document } = followReading(now, before, after);
    const files = Object.fromEntries(filesOf(text).map((each) => [each.path, each.text]));
    const drawing = setWritten(moveNodes(document, new Map(places)), files);
    if (canonical(drawing) === canonical(now)) return now;
    return catalog === null ? drawing : placedInside(drawing, catalog);
  });
  if (same && !diverged) texts.set(useDesigner.getState().document, text);
  keep();
}
