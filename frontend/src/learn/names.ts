/** Names of topologies, which are unique in a workspace. */

import { listTopologies } from "../api/topologyCalls";
import { limited } from "../frame/searching";

/** The maximum length of a name, in characters. */
export const LONGEST_NAME = 150;

/** The name if it is not taken, otherwise the name with the first number from 2 on that makes it unique. */
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
  // Only names with the same beginning can collide, including those that were shortened for a number.
  const search = limited(name.slice(0, LONGEST_NAME - 4));
  const taken: string[] = [];
  for (let page = 1, more = true; more; page += 1) {
    const found = await listTopologies(ws, { search, ordering: "name", page, page_size: 200 });
    taken.push(...found.results.map((each) => each.name));
    more = found.next !== null;
  }
  return freeAmong(taken, name);
}
