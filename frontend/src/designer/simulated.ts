/** What the canvas shows of a simulation: records over each edge, drops at each node, and the step. */

import { create } from "zustand";

interface SimulatedState {
  /** Records by the id of the edge; null while no simulation is shown. */
  readonly edges: Readonly<Record<string, number>> | null;
  /** Records that ended at a node, by reason in words. */
  readonly drops: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Where the record of the step is: it came over the edge into the node. */
  readonly at: {
    readonly node: string;
    readonly edge: string | null;
    readonly ended: boolean;
  } | null;
  /** Nodes and edges (by id) that no test went through; null while tests are not shown. */
  readonly missed: {
    readonly nodes: ReadonlySet<string>;
    readonly edges: ReadonlySet<string>;
  } | null;
  show(shown: Partial<Omit<SimulatedState, "show">>): void;
}

export const useSimulated = create<SimulatedState>()((set) => ({
  edges: null,
  drops: {},
  at: null,
  missed: null,
  show: (shown) => set(shown),
}));
