/** Python programs, which the server runs to read their documents. */

import { asApiError } from "../api/client";
import { readProgram } from "../api/topologyCalls";
import type { Program, ProgramRead } from "../api/types";
import { readDocument, type TopologyDocument } from "../graph/document";
import { errorText } from "../ui/i18n";

/** Statuses without a result: no response, too many requests. */
const UNREAD: ReadonlySet<number> = new Set([0, 429]);
type Problem = NonNullable<ProgramRead["problem"]>;

/** Why a program has no document. */
export class ProgramFault extends Error {
  override readonly name = "ProgramFault";
  /** The line of `file`, counted from 1; null if the fault has none. */
  readonly line: number | null;
  readonly file: string | null;
  readonly node: string | null;
  /** Whether the server has not read it, so that nothing is known of the program. */
  readonly unread: boolean;

  private constructor(message: string, unread: boolean, problem?: Problem) {
    super(message);
    this.unread = unread;
    this.line = problem?.line ?? null;
    this.file = problem?.file ?? null;
    this.node = problem?.node ?? null;
  }

  /** The fault of a program that the server has run, or the end of a reading that a newer one has replaced. */
  static of(problem: Problem): ProgramFault {
    const { code, message } = problem;
    const text = errorText(code, { message }) ?? message;
    return new ProgramFault(text, code === "simulation_cancelled", problem);
  }

  /** Why the server has not read it. */
  static unread(failure: unknown): ProgramFault {
    const { status, text } = asApiError(failure);
    return new ProgramFault(text, UNREAD.has(status) || status >= 500);
  }
}

/**
 * The document of a program.
 *
 * @throws ProgramFault if the program has none, or if the server does not respond.
 */
export async function documentOf(ws: string, program: Program): Promise<TopologyDocument> {
  const { document, problem } = await readProgram(ws, program).catch((failure) => {
    throw ProgramFault.unread(failure);
  });
  if (problem !== null) throw ProgramFault.of(problem);
  const found = readDocument(document);
  if (found === null) throw ProgramFault.unread(null);
  return found;
}
