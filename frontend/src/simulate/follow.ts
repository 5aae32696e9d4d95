/** *Where is my record?*: simulates the records that a deployment read around a record, and shows its way. */

import { ApiError } from "../api/client";
import { followRecord } from "../api/deploymentCalls";
import type { FollowedRecord, FollowRequest } from "../api/types";
import { useView } from "../designer/view";
import type { TopologyDocument } from "../graph/document";
import { t } from "../ui/i18n";
import { simulated, wait } from "./polling";
import type { Line } from "./scenario";
import { begin, makeRoom, showEnd, shownOf, showOnCanvas, useSimulation, watched } from "./store";
import { halved, startsOf, wayOf } from "./way";

export type Asked = Pick<FollowRequest, "topic"> & Partial<FollowRequest>;

/** The maximum number of records that a search scans. */
const MOST_SCANNED = 100_000;
/** The maximum number of repetitions with fewer records, if there are too many steps before the record. */
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
    if (answer.state === "starting") {
      useSimulation.setState({ phase: "starting" });
      await wait(signal);
      continue;
    }
    scanned += answer.scanned ?? 0;
    cursor = answer.cursor ?? "";
    if (answer.state === "not_found" || scanned >= MOST_SCANNED) {
      throw new Error(
        t(
          {
            id: "simulate.none_of_newest_records",
            message:
              "None of the {n} newest {n, plural, one {record} other {records}} of {topic} matches.",
          },
          {
            n: scanned,
            topic: asked.topic,
          },
        ),
      );
    }
  }
}

/** Finds a record, simulates it with those around it, and shows its way. */
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
  const searching = { phase: "searching", name: null, progress: null } as const;
  set({ ...searching, view: "way", comparing: false, failure: null, diagnostics: [], shown: null });
  showOnCanvas(null);
  try {
    let answer = await found(deployment, asked, signal);
    let lines: readonly Line[] = answer.lines ?? [];
    let input = answer.input ?? 1;
    let refused: string | null = null;
    const again = async (more: Partial<Asked>) => {
      set(searching);
      const { partition, offset } = answer.record ?? {};
      const place = { partition, offset, key: null, contains: "" };
      answer = await found(deployment, { ...asked, ...place, ...more }, signal);
      lines = answer.lines ?? [];
      input = answer.input ?? 1;
    };
    for (let cuts = 0; ; cuts += 1) {
      const { record: place, version } = answer;
      if (place === undefined) return;
      const document = answer.document as unknown as TopologyDocument;
      const begins = answer.begins ?? null;
      let ran: Awaited<ReturnType<typeof simulated>>;
      try {
        ran = await simulated(ws, document, lines, {
          ...watched(controller, document),
          partitions: answer.topic_partitions,
          ...(begins === null ? {} : { begins: { ...begins, deployment } }),
        });
      } catch (error) {
        const conflict = error instanceof ApiError && error.status === 409;
        if (begins === null || !conflict || error.code === "simulation_cancelled") throw error;
        refused = error.message;
        await again({ stores: "empty" });
        continue;
      }
      const { diagnostics, result } = ran.answer;
      const way = result === null ? [] : wayOf(result.steps, input);
      const cancelled = useSimulation.getState().phase === "cancelling";
      const unseen = result?.truncated === true && way.length === 0 && !cancelled;
      if (unseen && input > 1 && cuts < MOST_CUTS) {
        if (begins === null) ({ input, lines } = halved(lines, input));
        else await again({ before: Math.floor(input / 2 ** (cuts + 1)) });
        continue;
      }
      const shown = shownOf(document, lines, ran);
      set({
        phase: "idle",
        progress: null,
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
          begins,
          empty: refused ?? answer.empty_because ?? null,
        },
      });
      showOnCanvas(shown);
      useSimulation.getState().goTo(way[0]?.index ?? 0);
      return;
    }
  } catch (error) {
    showEnd(controller, error);
  }
}
