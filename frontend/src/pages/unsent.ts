/** Changes that have not reached the server, kept in this browser in case the page dies before they do. */

import { readDocument, type TopologyDocument } from "../graph/document";

function keyOf(user: number, topology: number): string {
  return `millrace.unsent.${user}.${topology}`;
}

/** Keeps a document; null forgets it. */
export function keepUnsent(
  user: number,
  topology: number,
  document: TopologyDocument | null,
): void {
  try {
    if (document === null) localStorage.removeItem(keyOf(user, topology));
    else localStorage.setItem(keyOf(user, topology), JSON.stringify(document));
  } catch {
    // Without storage only the server keeps drafts.
  }
}

/** What was kept; null if the server had everything. */
export function readUnsent(user: number, topology: number): TopologyDocument | null {
  try {
    const text = localStorage.getItem(keyOf(user, topology));
    return text === null ? null : readDocument(JSON.parse(text));
  } catch {
    return null;
  }
}
