/** The view of the running deployment, recomputed with every report; it supplies the canvas with figures. */

import { useEffect } from "react";
import { create } from "zustand";
import { drawing } from "../designer/drawn";
import { outerNode, withFragmentFigures } from "../designer/fragmentFigures";
import { edgeWithRecords, useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import type { expanded } from "../graph/opening";
import { useDeployed, useDeployedVersion } from "../live/deployed";
import { useLive } from "../live/store";
import { failedAt, type RuntimeView, STALE_AFTER, viewOf } from "../live/view";
import { runningVersion } from "./versions";

export const useRunning = create<{ view: RuntimeView | null }>()(() => ({ view: null }));

function isStale(): boolean {
  const { deployment, receivedAt, runtime, connection } = useLive.getState();
  if (deployment === null) return false;
  if (runtime?.stale === true) return true;
  if (deployment.observed === "unknown" || deployment.observed === "restarting") return true;
  if (receivedAt === null) return false;
  const silent = Date.now() - receivedAt > STALE_AFTER;
  return silent || (connection === "lost" && Date.now() - receivedAt > 2_000);
}

function compute(): RuntimeView | null {
  const { deployment, runtime } = useLive.getState();
  if (deployment === null || deployment.observed === "stopped") return null;
  return viewOf({
    deployment,
    runtime,
    deployed: useDeployed.getState().deployed,
    stale: isStale(),
  });
}

/** Opens the list of records when an edge of a running topology is clicked. */
function useRecordsOnClick(): void {
  useEffect(
    () =>
      useDesigner.subscribe((state, before) => {
        if (state.layer !== "runtime" || state.selection === before.selection) return;
        const [edge] = state.selection.edges;
        const { edges, nodes } = state.selection;
        if (edge === undefined || edges.length > 1 || nodes.length > 0) return;
        if (edge === before.selection.edges[0] || useRunning.getState().view === null) return;
        if (edgeWithRecords(drawing(state), edge) ?? edgeWithRecords(state.document, edge))
          useView.getState().openBottom("records");
      }),
    [],
  );
}

/** Opens fragments for a comparison; it is loaded when there are some. */
let expand: typeof expanded | undefined;

/** Compares the canvas with the version that runs. */
function compare(): void {
  const { deployed } = useDeployed.getState();
  const { document, topologyId } = useDesigner.getState();
  const runs = useRunning.getState().view !== null && deployed?.topology === topologyId;
  const fragments = document.fragments ?? deployed?.document.fragments;
  if (runs && fragments !== undefined && expand === undefined) {
    void import("../graph/opening").then((opening) => {
      expand = opening.expanded;
      compare();
    });
    return;
  }
  const found = runs && deployed !== null ? runningVersion(document, deployed, expand) : null;
  const { running, sentences, setRunning, setSentences } = useRuntime.getState();
  if (found !== null || running !== null) setRunning(found);
  const values = runs && deployed?.environment != null ? deployed.summary : null;
  if (values !== sentences) setSentences(values);
}

/** Keeps the view up to date as long as the page is open. */
export function useRuntimeFeed(workspace: string, topology: number): void {
  useRecordsOnClick();
  useDeployedVersion(workspace, topology);
  useEffect(() => {
    const renew = () => {
      const view = compute();
      useRunning.setState({ view });
      const { fragments } = useDesigner.getState().result ?? {};
      useRuntime
        .getState()
        .setFigures(view && { ...view, nodes: withFragmentFigures(view.nodes, fragments) });
      const failed = failedAt(useLive.getState().deployment);
      useRuntime
        .getState()
        .setFailed(
          failed && { ...failed, node: outerNode(fragments, failed.node), inner: failed.node },
        );
    };
    renew();
    let last = useLive.getState();
    const stopLive = useLive.subscribe((state) => {
      if (state.runtime !== last.runtime || state.deployment !== last.deployment) renew();
      last = state;
    });
    const stopDeployed = useDeployed.subscribe(() => {
      renew();
      compare();
    });
    compare();
    const stopDrawn = useDesigner.subscribe((state, before) => {
      if (state.document !== before.document) compare();
      if (state.result?.fragments !== before.result?.fragments) renew();
    });
    const stopRunning = useRunning.subscribe((state, before) => {
      if ((state.view === null) !== (before.view === null)) compare();
    });
    let wasStale = isStale();
    // No events arrive after the end of a run, so figures become stale by time.
    const timer = setInterval(() => {
      if (isStale() === wasStale) return;
      wasStale = isStale();
      renew();
    }, 1_000);
    return () => {
      stopLive();
      stopDeployed();
      stopDrawn();
      stopRunning();
      useRuntime.getState().setRunning(null);
      useRuntime.getState().setSentences(null);
      clearInterval(timer);
      useRunning.setState({ view: null });
      useRuntime.getState().setFigures(null);
      useRuntime.getState().setFailed(null);
    };
  }, []);
}
