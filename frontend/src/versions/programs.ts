/** Python programs, which the server runs to read their documents. */

import { asApiError } from "../api/client";
import { AGAIN_MS, PATIENCE_MS } from "../api/starting";
import { readProgram } from "../api/topologyCalls";
import { readDocument, type TopologyDocument } from "../graph/document";
import { t } from "../ui/i18n";

/** Why a program has no document. */
export class ProgramFault extends Error {
  override readonly name = "ProgramFault";
  /** The line of the program, counted from 1; null if the fault has none. */
  readonly line: number | null;
  readonly node: string | null;
  /** Whether the server did not respond, so that nothing is known of the program. */
  readonly unreachable: boolean;

  constructor(failure: unknown) {
    const { data, status, text } = asApiError(failure);
    super(text);
    const line = /, line (\d+)/.exec(typeof data.message === "string" ? data.message : text)?.[1];
    this.line = line === undefined ? null : Number(line);
    this.unreachable = status === 0 || status >= 500;
    this.node = typeof data.node === "string" ? data.node : null;
  }
}

/**
 * The document of a program. Waits for the simulator to start.
 *
 * @throws ProgramFault if the program has none; Error if the simulator did not start.
 */
export async function documentOf(
  ws: string,
  name: string,
  program: string,
): Promise<TopologyDocument> {
  const began = performance.now();
  for (;;) {
    let found: unknown;
    try {
      found = await readProgram(ws, name, program);
    } catch (failure) {
      throw new ProgramFault(failure);
    }
    const document = readDocument(found);
    if (document !== null) return document;
    if (performance.now() - began > PATIENCE_MS) {
      throw new Error(
        t({
          id: "common.simulator_did_not_start",
          message:
            "The simulator did not start. See the log of the service simulator for the cause.",
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
