/** Changes that have not reached the server, kept in this browser in case the page dies before they do. */

import { readDocument, type TopologyDocument } from "../graph/document";

function keyOf(user: number, topology: number): string {
  return `millrace.unsent.${user}.${topology}`;
}

export interface Unsent {
  readonly document: TopologyDocument;
  /** The server's draft that the changes were made on; null where there was none. */
  readonly revision: string | null;
}

/** Keeps changes; null forgets them. */
export function keepUnsent(user: number, topology: number, unsent: Unsent | null): void {
  try {
    if (unsent === null) localStorage.removeItem(keyOf(user, topology));
    else localStorage.setItem(keyOf(user, topology), JSON.stringify(unsent));
  } catch {
    // Without storage only the server keeps drafts.
  }
}

/** What was kept; null if the server had everything. */
export function readUnsent(user: number, topology: number): Unsent | null {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(user, topology)) ?? "null");
    const document = readDocument(kept?.document);
    return document === null ? null : { document, revision: kept.revision ?? null };
  } catch {
    return null;
  }
}
