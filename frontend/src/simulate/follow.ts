/** Where is my record? Simulates what a deployment read around a record, and shows its way. */

import { followRecord } from "../api/deploymentCalls";
import type { FollowedRecord, FollowRequest } from "../api/types";
import { breakpointsIn } from "../designer/breakpoints";
import { useView } from "../designer/view";
import type { TopologyDocument } from "../graph/document";
import { t } from "../ui/i18n";
import { simulated } from "./polling";
import type { Line } from "./scenario";
import { begin, failureOf, makeRoom, type Shown, showOnCanvas, useSimulation } from "./store";
import { halved, startsOf, wayOf } from "./way";

export type Asked = Pick<FollowRequest, "topic"> & Partial<FollowRequest>;

/** Records that a search scans before it gives up. */
const MOST_SCANNED = 100_000;
/** How often a simulation is repeated with fewer records, where too many steps come before the record. */
const MOST_CUTS = 5;

async function found(
  deployment: number,
  asked: Asked,
  signal: AbortSignal,
): Promise<FollowedRecord> {
  let scanned = 0;
  let cursor = "";
  for (;;) {
    const answer = await followRecord(deployment, { ...asked, cursor }, signal);
    if (answer.state === "found") return answer;
    scanned += answer.scanned ?? 0;
    cursor = answer.cursor ?? "";
    if (answer.state === "not_found" || scanned >= MOST_SCANNED) {
      throw new Error(
        t("None of the {n} newest {n|record|records} of {topic} matches.", {
          n: scanned,
          topic: asked.topic,
        }),
      );
    }
  }
}

/** Finds the record, simulates it with those around it, and opens its way. */
export async function follow(
  ws: string,
  topology: number,
  deployment: number,
  asked: Asked,
): Promise<void> {
  useSimulation.getState().open(topology);
  useView.getState().openBottom("simulate");
  makeRoom();
  const controller = begin();
  const { signal } = controller;
  const set = useSimulation.setState;
  set({ phase: "searching", view: "way", failure: null, diagnostics: [], shown: null });
  showOnCanvas(null);
  try {
    const answer = await found(deployment, asked, signal);
    const { record: place, version } = answer;
    const document = answer.document as unknown as TopologyDocument;
    let lines: readonly Line[] = answer.lines ?? [];
    let input = answer.input ?? 1;
    if (place === undefined) return;
    for (let cuts = 0; ; cuts += 1) {
      set({ phase: "running" });
      const { answer: run, seconds } = await simulated(ws, document, lines, {
        signal,
        breakpoints: breakpointsIn(document),
        partitions: answer.topic_partitions,
        starting: () => set({ phase: "starting" }),
      });
      const { diagnostics, result } = run;
      const way = result === null ? [] : wayOf(result.steps, input);
      if (result?.truncated === true && way.length === 0 && input > 1 && cuts < MOST_CUTS) {
        ({ input, lines } = halved(lines, input));
        continue;
      }
      const shown: Shown | null =
        result === null ? null : { document, lines, seconds, result, plain: null };
      set({
        phase: "idle",
        shown,
        diagnostics,
        input,
        step: way[0]?.index ?? 0,
        followed: {
          deployment,
          version,
          asked: asked as FollowRequest,
          place,
          skipped: answer.skipped ?? 0,
          starts: startsOf(lines, answer.partitions ?? []),
        },
      });
      showOnCanvas(shown);
      useSimulation.getState().goTo(way[0]?.index ?? 0);
      return;
    }
  } catch (error) {
    if (signal.aborted) return;
    set({ phase: "idle", failure: failureOf(error) });
  }
}
