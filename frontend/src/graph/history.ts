/** Undo and redo by whole documents: an entry is the document and the selection before a change. */

import type { TopologyDocument } from "./document";

export interface Snapshot {
  readonly document: TopologyDocument;
  readonly selected: readonly string[];
  /** The name in the menu of the change that followed: "Move", "Delete 2 nodes". */
  readonly label: string;
}

export interface History {
  readonly past: readonly Snapshot[];
  readonly future: readonly Snapshot[];
  /** The gesture of the newest entry; further changes of the same gesture add no entries. */
  readonly gesture: string | null;
}

export const EMPTY_HISTORY: History = { past: [], future: [], gesture: null };

/** The maximum number of entries. */
const DEPTH = 200;

/** Adds the document before a change to the history, unless the change continues the current gesture. */
export function remember(history: History, before: Snapshot, gesture: string | null): History {
  if (gesture !== null && gesture === history.gesture && history.past.length > 0) {
    return history.future.length === 0 ? history : { ...history, future: [] };
  }
  return { past: [...history.past, before].slice(-DEPTH), future: [], gesture };
}

export function endGesture(history: History): History {
  return history.gesture === null ? history : { ...history, gesture: null };
}

/** The history after going one step back from `now`, and the snapshot to show; null at the start. */
export function stepBack(
  history: History,
  now: Snapshot,
): { history: History; shown: Snapshot } | null {
  const shown = history.past.at(-1);
  if (shown === undefined) return null;
  const undone = { ...now, label: shown.label };
  return {
    history: {
      past: history.past.slice(0, -1),
      future: [...history.future, undone],
      gesture: null,
    },
    shown,
  };
}

/** The history after going one step forward from `now`, and the snapshot to show; null at the end. */
export function stepForward(
  history: History,
  now: Snapshot,
): { history: History; shown: Snapshot } | null {
  const shown = history.future.at(-1);
  if (shown === undefined) return null;
  const redone = { ...now, label: shown.label };
  return {
    history: {
      past: [...history.past, redone],
      future: history.future.slice(0, -1),
      gesture: null,
    },
    shown,
  };
}

/** Writes the history as text of at most `limit` characters, omitting the oldest entries first. */
export function writeHistory(history: History, limit: number): string {
  let { past, future } = history;
  for (;;) {
    const text = JSON.stringify({ past, future });
    if (text.length <= limit || past.length + future.length === 0) return text;
    if (past.length > 0) past = past.slice(Math.max(1, Math.floor(past.length / 4)));
    else future = [];
  }
}

export function readHistory(text: string | null): History {
  if (text === null) return EMPTY_HISTORY;
  try {
    const value = JSON.parse(text);
    if (!Array.isArray(value?.past) || !Array.isArray(value?.future)) return EMPTY_HISTORY;
    return { past: value.past, future: value.future, gesture: null };
  } catch {
    return EMPTY_HISTORY;
  }
}
