/**
 * The program that is typed beside the canvas, and the canvas, which follow each other (ADR 55).
 *
 * `base` is the program of the canvas, `sound` the last text whose document is on the canvas, `text` what is shown. The
 * text may have faults or be unread; it is then kept in the session storage.
 */

import { create } from "zustand";
import { loadElk } from "../designer/placing";
import { useDesigner } from "../designer/store";
import { moveNodes } from "../graph/changes";
import type { TopologyDocument } from "../graph/document";
import { layout } from "../graph/layout";
import { t } from "../ui/i18n";
import { useEditing } from "../versions/editing";
import { canonical } from "../versions/merge";
import { documentOf, ProgramFault } from "../versions/programs";
import { follow, followReading, sameMeaning } from "./following";

interface Fault {
  readonly message: string;
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
const PAUSE_MS = 500;
const AGAIN_MS = 3_000;

/** The text that was shown for a document, so that undo brings it back with its comments. */
const texts = new WeakMap<TopologyDocument, string>();
let readings = new Map<string, Promise<TopologyDocument>>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** Whether the canvas changed lines that are being typed, so that `base` is not its program. */
let diverged = false;

const keyOf = (topology: number) => `millrace.program.${topology}`;

function keep(): void {
  const { base, sound, text, topology } = useTyping.getState();
  if (topology === null) return;
  try {
    if (text === base) sessionStorage.removeItem(keyOf(topology));
    else sessionStorage.setItem(keyOf(topology), JSON.stringify({ base, sound, text }));
  } catch {
    // Without storage, the text lasts until the page is closed.
  }
}

function kept(topology: number): Pick<TypingState, "base" | "sound" | "text"> | null {
  try {
    const found = JSON.parse(sessionStorage.getItem(keyOf(topology)) ?? "null");
    return [found?.base, found?.sound, found?.text].every((each) => typeof each === "string")
      ? found
      : null;
  } catch {
    return null;
  }
}

function isPending({ sound, text }: TypingState): boolean {
  return text !== sound;
}

/** Shows the generated program of a document on the canvas, with what was typed in it. */
export function showProgram(topology: number, document: TopologyDocument, program: string): void {
  if (useTyping.getState().topology !== topology) {
    clearTimeout(timer);
    readings = new Map();
    diverged = false;
    const stored = kept(topology) ?? { base: program, sound: program, text: program };
    useTyping.setState({ ...NOTHING, topology, ...stored });
    if (isPending(useTyping.getState())) readSoon();
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
    if (known === undefined && text !== program) void check(now, document, program, text);
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
    if (!(failure instanceof ProgramFault) || failure.unreachable) return;
    yields = false;
  }
  const now = useTyping.getState();
  if (yields || now.topology !== before.topology || now.text !== text || now.base !== program)
    return;
  texts.set(document, program);
  useTyping.setState({ sound: program, text: program, replaced: true });
  keep();
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

function readingOf(ws: string, text: string): Promise<TopologyDocument> {
  const found = readings.get(text) ?? documentOf(ws, "job.py", text);
  readings.delete(text);
  readings.set(text, found);
  found.catch(() => readings.delete(text));
  const [oldest] = readings.keys();
  if (readings.size > 8 && oldest !== undefined) readings.delete(oldest);
  return found;
}

async function read(): Promise<void> {
  const { sound, text, topology } = useTyping.getState();
  const { ws } = useEditing.getState();
  const unchanged = () => {
    const now = useTyping.getState();
    return now.topology === topology && now.text === text && now.sound === sound;
  };
  if (text === sound) {
    useTyping.setState({ fault: null });
    return;
  }
  if (text.length > LONGEST) {
    const message = t("A program has up to {n} characters.", { n: LONGEST });
    useTyping.setState({ fault: { message, line: null, node: null } });
    return;
  }
  useTyping.setState({ reading: true });
  try {
    const before = await readingOf(ws, sound);
    const after = await readingOf(ws, text);
    if (unchanged()) await apply(before, after, unchanged);
  } catch (failure) {
    if (!unchanged()) return;
    const { message } = failure as Error;
    const { line, node } = failure instanceof ProgramFault ? failure : { line: null, node: null };
    useTyping.setState({ fault: { message, line, node } });
    if (failure instanceof ProgramFault && failure.unreachable) readSoon(AGAIN_MS);
  } finally {
    useTyping.setState({ reading: false });
    if (useTyping.getState().text === text && !unchanged()) readSoon();
  }
}

/** Changes the canvas as the text changed, in one step of undo. */
async function apply(
  before: TopologyDocument,
  after: TopologyDocument,
  unchanged: () => boolean,
): Promise<void> {
  const { catalog, change, document: drawn } = useDesigner.getState();
  const first = followReading(drawn, before, after);
  const places =
    catalog === null || first.unplaced.length === 0
      ? new Map<string, { x: number; y: number }>()
      : await layout(await loadElk(), first.document, catalog, new Set(first.unplaced));
  if (!unchanged()) return;
  const { text } = useTyping.getState();
  const same = useDesigner.getState().document === drawn;
  useTyping.setState({ sound: text, fault: null });
  change(t("Edit the program"), (now) => {
    const { document } = followReading(now, before, after);
    return canonical(document) === canonical(now) ? now : moveNodes(document, places);
  });
  if (same && !diverged) texts.set(useDesigner.getState().document, text);
  keep();
}
