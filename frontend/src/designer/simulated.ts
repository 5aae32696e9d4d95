/** The simulation on the canvas: records over each edge, drops at each node, and the current step. */

import { create } from "zustand";
import type { PinnedRecord } from "../graph/pins";

interface SimulatedState {
  /** Number of records by edge id; null while no simulation is shown. */
  readonly edges: Readonly<Record<string, number>> | null;
  /** Records into and out of each node, those within fragments among them. */
  readonly nodes: Readonly<Record<string, { readonly in: number; readonly out: number }>> | null;
  /** Number of records that ended at a node, by reason in words. */
  readonly drops: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The node that the current step's record entered, and the edge over which it came. */
  readonly at: {
    readonly node: string;
    /** The node within the fragment `node`. */
    readonly inner: string | null;
    readonly edge: string | null;
    readonly ended: boolean;
  } | null;
  /** Nodes and edges (by id) that no test covers; null while coverage is not shown. */
  readonly missed: {
    readonly nodes: ReadonlySet<string>;
    readonly edges: ReadonlySet<string>;
  } | null;
  /** The records that left a port of a node, as far as an edge shows them; null without a result. */
  readonly passed: ((node: string, port: string) => readonly PinnedRecord[]) | null;
  show(shown: Partial<Omit<SimulatedState, "show">>): void;
}

export const useSimulated = create<SimulatedState>()((set) => ({
  edges: null,
  nodes: null,
  drops: {},
  at: null,
  missed: null,
  passed: null,
  show: (shown) => set(shown),
}));
