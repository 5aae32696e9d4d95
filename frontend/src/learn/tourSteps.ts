/** The steps of the tour: what each shows, where, and what it opens first. */

import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { type Phrase, phrase } from "../ui/i18n";

export interface TourStep {
  readonly title: Phrase;
  readonly text: Phrase;
  /** The element that the step is about. */
  readonly target: string;
  readonly open?: () => void;
}

/** Selects the first node that keeps state, or else the second one. */
function selectStateful(): void {
  const { catalog, document, select } = useDesigner.getState();
  const stateful = document.nodes.find(
    (node) => catalog?.kinds.find((each) => each.kind === node.kind)?.family === "aggregations",
  );
  const chosen = stateful ?? document.nodes[1] ?? document.nodes[0];
  if (chosen !== undefined) select({ nodes: [chosen.id], edges: [] });
}

export const STEPS: readonly TourStep[] = [
  {
    title: phrase("A topology is a drawing of a stream"),
    text: phrase({
      id: "learn.tour_canvas",
      message:
        "This is a sample that is deployed for you. Records flow from left to right: from topics, through operators, to topics. The line below a name says what the node does.",
    }),
    target: ".designer-canvas",
    open: () => useDesigner.getState().setLayer("design"),
  },
  {
    title: phrase("Watch it work"),
    text: phrase({
      id: "learn.tour_runtime",
      message:
        "The layer Runtime shows on each node how many records a second go in and out, how far it lags and where its tasks run.",
    }),
    target: '[data-segment="runtime"]',
    open: () => useDesigner.getState().setLayer("runtime"),
  },
  {
    title: phrase("Look into a node"),
    text: phrase({
      id: "learn.tour_inspector",
      message:
        "The inspector has the settings of the selected node. F1 in a field explains it. What is wrong is marked as you type, with a fix where there is one.",
    }),
    target: ".designer-right",
    open: () => {
      useDesigner.getState().setLayer("design");
      selectStateful();
      useView.getState().set({ rightOpen: true });
    },
  },
  {
    title: phrase("Read its state"),
    text: phrase({
      id: "learn.tour_state",
      message:
        "The tab State reads the rows of a store while the topology runs: here, the counts of words.",
    }),
    target: ".designer-bottom",
    open: () => useView.getState().openBottom("state"),
  },
  {
    title: phrase("Try a change first"),
    text: phrase({
      id: "learn.tour_simulate",
      message:
        "Simulate runs the drawing on records that you enter, and steps through them. Nothing is deployed, and no topic is touched.",
    }),
    target: ".designer-bottom",
    open: () => useView.getState().openBottom("simulate"),
  },
  {
    title: phrase("Deploy it"),
    text: phrase({
      id: "learn.tour_deploy",
      message:
        "A new version continues with the state of the one that runs. If rows would be lost, you are asked first. Next, open Learn in the commands (Ctrl+K): ten topologies to try.",
    }),
    target: '[data-testid="deploy"]',
  },
];
