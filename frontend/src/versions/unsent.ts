/** Changes that have not reached the server, stored in the browser in case the page is closed first. */

import { readDocument, type TopologyDocument } from "../graph/document";

function keyOf(user: number, topology: number): string {
  return `millrace.unsent.${user}.${topology}`;
}

export interface Unsent {
  readonly document: TopologyDocument;
  /** The revision of the server's draft to which the changes were made; null if there was none. */
  readonly revision: string | null;
}

/** Stores unsent changes; null removes them. */
export function keepUnsent(user: number, topology: number, unsent: Unsent | null): void {
  try {
    if (unsent === null) localStorage.removeItem(keyOf(user, topology));
    else localStorage.setItem(keyOf(user, topology), JSON.stringify(unsent));
  } catch {
    // Without storage only the server keeps drafts.
  }
}

/** The stored changes; null if the server had everything. */
export function readUnsent(user: number, topology: number): Unsent | null {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(user, topology)) ?? "null");
    const document = readDocument(kept?.document);
    return document === null ? null : { document, revision: kept.revision ?? null };
  } catch {
    return null;
  }
}
