/** Names of topologies, of which a workspace has each only once. */

import { listTopologies } from "../api/topologyCalls";

/** Characters that a name may have. */
export const LONGEST_NAME = 150;

/** The name if it is free, otherwise with the first number from 2 that makes it unique. */
export function freeAmong(taken: readonly string[], name: string): string {
  const lower = new Set(taken.map((each) => each.toLowerCase()));
  let free = name.slice(0, LONGEST_NAME);
  for (let number = 2; lower.has(free.toLowerCase()); number += 1) {
    free = `${name.slice(0, LONGEST_NAME - ` ${number}`.length)} ${number}`;
  }
  return free;
}

/** A free name in a workspace, the preferred one if possible. */
export async function freeName(ws: string, name: string): Promise<string> {
  // What begins like it is enough to know; a name that was cut is found by its beginning.
  const search = name.slice(0, LONGEST_NAME - 4);
  const page = await listTopologies(ws, { search, page_size: 200 });
  return freeAmong(
    page.results.map((each) => each.name),
    name,
  );
}
