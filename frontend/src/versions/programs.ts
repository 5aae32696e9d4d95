/** Python programs, which the server runs to read their documents. */

import { asApiError } from "../api/client";
import { readProgram } from "../api/topologyCalls";
import { readDocument, type TopologyDocument } from "../graph/document";

/** Statuses without a result: no response, a newer reading, too many requests. */
const UNREAD: ReadonlySet<number> = new Set([0, 409, 429]);

/** Why a program has no document. */
export class ProgramFault extends Error {
  override readonly name = "ProgramFault";
  /** The line of the program, counted from 1; null if the fault has none. */
  readonly line: number | null;
  readonly node: string | null;
  /** Whether the server has not read it, so that nothing is known of the program. */
  readonly unread: boolean;

  constructor(failure: unknown) {
    const { data, status, text } = asApiError(failure);
    super(text);
    const line = /, line (\d+)/.exec(typeof data.message === "string" ? data.message : text)?.[1];
    this.line = line === undefined ? null : Number(line);
    this.unread = UNREAD.has(status) || status >= 500;
    this.node = typeof data.node === "string" ? data.node : null;
  }
}

/**
 * The document of a program. `run`: a name of this page's for the reading, which ends the earlier one of this name.
 *
 * @throws ProgramFault if the program has none, or if the server does not respond.
 */
export async function documentOf(
  ws: string,
  name: string,
  program: string,
  run?: string,
): Promise<TopologyDocument> {
  try {
    const document = readDocument(await readProgram(ws, name, program, run));
    if (document !== null) return document;
  } catch (failure) {
    throw new ProgramFault(failure);
  }
  throw new ProgramFault(null);
}
