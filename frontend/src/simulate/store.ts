/** The simulation of the open topology: its inputs, which are stored in the browser, and its result. */

import { create } from "zustand";
import { ApiError } from "../api/client";
import { cancelSimulation } from "../api/compileCalls";
import { sampleInputs } from "../api/topologyCalls";
import type {
  Beginning,
  Cut,
  Diagnostic,
  FollowedPlace,
  FollowRequest,
  PlainSimulation,
  SimulationProgress,
  SimulationResult,
  SimulationStep,
} from "../api/types";
import { breakpointsIn, codeOf, useBreakpoints } from "../designer/breakpoints";
import { canvas } from "../designer/canvasApi";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { edgeId, type TopologyDocument } from "../graph/document";
import { pinsOf } from "../graph/pins";
import { t } from "../ui/i18n";
import { type InputHistory, NO_HISTORY, remembered, stepped } from "./inputHistory";
import { keep, readKept } from "./kept";
import { inOrder, type Order } from "./ordering";
import { partOf, pinnedLines, simulatedAt } from "./pins";
import { simulated } from "./polling";
import {
  type InputRow,
  type Line,
  linesOf,
  newRow,
  rowOf,
  sourcesFor,
  sourcesOf,
} from "./scenario";
import { edgeOf, stopsOf } from "./steps";
import type { PartitionStart } from "./way";
import { dropText, endingText, isLoss, reasonText } from "./words";

export type View = "inputs" | "results" | "log" | "steps" | "way" | "edge" | "plain" | "tests";

/** A result with the document and the input lines that it belongs to. */
export interface Shown {
  readonly document: TopologyDocument;
  readonly lines: readonly Line[];
  readonly seconds: number;
  readonly result: SimulationResult;
  /** The result of plain Spark for the same lines; null if no run has included it. */
  readonly plain: PlainSimulation | null;
  /** Whether the comparison with plain Spark is from an earlier run. */
  readonly former?: boolean;
  /** After a canceled run, the number of all its lines; `lines` are only those that were processed. */
  readonly cancelledOf?: number;
}

/** A record of a deployment that is being followed, and the state with which its simulation started. */
export interface Followed {
  readonly deployment: number;
  readonly version: number;
  readonly asked: FollowRequest;
  readonly place: FollowedPlace;
  /** Number of records that were omitted because they could not be masked. */
  readonly skipped: number;
  readonly starts: readonly PartitionStart[];
  /** The micro-batch after which the stores are taken; null for empty stores. */
  readonly begins: Beginning | null;
  /** Why stores start empty: a code, or a sentence of the server. */
  readonly empty: string | null;
}

interface SimulationState {
  readonly topology: number | null;
  readonly rows: readonly InputRow[];
  readonly auto: boolean;
  /** In which order the rows are processed. */
  readonly order: Order;
  readonly history: InputHistory;
  /** What the last undo or redo did; null after any other change of the inputs. */
  readonly undone: { readonly label: string; readonly direction: "back" | "forward" } | null;
  readonly view: View;
  /** How plain Spark cuts the records into micro-batches. */
  readonly cut: Cut;
  readonly phase: "idle" | "searching" | "starting" | "running" | "cancelling";
  /** The name of the run; null during a search for records. */
  readonly name: string | null;
  /** The progress of the run; null if unknown. After a run that had to be killed, its last progress. */
  readonly progress: SimulationProgress | null;
  /** Whether the run includes a comparison with plain Spark. */
  readonly comparing: boolean;
  readonly shown: Shown | null;
  readonly failure: string | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The index of the step that is shown. */
  readonly step: number;
  /** Number of the input record whose way is shown. */
  readonly input: number;
  /** Whether simulations use pinned records and muted nodes. */
  readonly pins: boolean;
  /** Null if the inputs are those in the table. */
  readonly followed: Followed | null;
  open(topology: number): void;
  close(): void;
  /** Changes the inputs. `label`: what undo shows; consecutive changes of a `gesture` are undone together. */
  setRows(rows: readonly InputRow[], change?: Change): void;
  setOrder(order: Order): void;
  /** Undoes or redoes a change of the inputs. */
  stepInputs(direction: "back" | "forward"): void;
  setAuto(auto: boolean): void;
  setView(view: View): void;
  /** Shows a step and highlights its record on the canvas. */
  goTo(step: number): void;
  setCut(cut: Cut): void;
  /**
   * Runs the rows, and the pinned records if they are used. With `plain`, the rows also run in plain Spark, which takes
   * seconds, without pins. `to`: the last node that runs.
   */
  run(workspace: string, plain?: boolean, to?: string): Promise<void>;
  cancel(workspace: string): void;
}

export interface Change {
  readonly label?: string;
  readonly gesture?: string;
  /** A new order of processing. */
  readonly order?: Order;
}

type Loaded = Pick<SimulationState, "rows" | "auto" | "order" | "history" | "undone">;

function load(topology: number): Loaded {
  const { rows, auto, order } = readKept(topology) ?? { rows: [], auto: false, order: "time" };
  return { rows: rows.map(newRow), auto, order, ...UNCHANGED };
}

const UNCHANGED = { history: NO_HISTORY, undone: null } as const;

/** Fills in the records of the topology's template if there are no inputs yet. */
async function fillIn(topology: number): Promise<void> {
  if (readKept(topology) !== null) return;
  const { inputs } = await sampleInputs(topology).catch(() => ({ inputs: [] }));
  const { rows, setRows, topology: open } = useSimulation.getState();
  if (open !== topology || rows.length > 0 || inputs.length === 0) return;
  const sources = sourcesOf(useDesigner.getState().document);
  setRows(inputs.map((line) => rowOf(line, sources)));
  useSimulation.setState(UNCHANGED);
}

let running: AbortController | null = null;
/** A prefix that distinguishes the names of runs from those in the person's other tabs. */
const SESSION = Math.random().toString(36).slice(2);
let lastRun = 0;

/** Starts a new run or search, aborting the current one. *Cancel* aborts it, too. */
export function begin(): AbortController {
  running?.abort();
  running = new AbortController();
  return running;
}

/** The options of a new run, with a name by which it can be watched and canceled. */
export function watched(controller: AbortController, document: TopologyDocument) {
  const { getState, setState } = useSimulation;
  lastRun += 1;
  const run = `${SESSION}-${lastRun}`;
  setState({ name: run, phase: "running", progress: null });
  return {
    run,
    signal: controller.signal,
    breakpoints: breakpointsIn(document),
    starting: () => setState({ phase: "starting" }),
    progress: (progress: SimulationProgress) => {
      if (running !== controller) return;
      const { phase } = getState();
      setState({ phase: phase === "starting" ? "running" : phase, progress });
      if (progress.edges !== undefined) showProgress(document, progress);
    },
  };
}

/** A result with its document and lines; after a canceled run, only the lines that were processed. */
export function shownOf(
  document: TopologyDocument,
  lines: readonly Line[],
  { answer, seconds }: Awaited<ReturnType<typeof simulated>>,
): Shown | null {
  const { plain, result } = answer;
  if (result === null) return null;
  const stopped = result.stopped_after;
  const run = { document, seconds, result, plain };
  return stopped === null
    ? { ...run, lines }
    : { ...run, lines: lines.slice(0, stopped), cancelledOf: lines.length };
}

/** Shows why a run ended without a result. */
export function showEnd(controller: AbortController, error: unknown) {
  if (controller.signal.aborted || running !== controller) return;
  const { progress, shown } = useSimulation.getState();
  const cancelled = error instanceof ApiError && error.code === "simulation_cancelled";
  if (cancelled && progress?.edges !== undefined) {
    // It was killed in the middle of a record, so only the counts so far are known.
    useSimulation.setState({ phase: "idle", shown: null });
    return;
  }
  const failure = cancelled ? null : failureOf(error);
  useSimulation.setState({ phase: "idle", progress: null, failure });
  showOnCanvas(shown);
}

const NOTHING = {
  phase: "idle",
  name: null,
  progress: null,
  comparing: false,
  shown: null,
  failure: null,
  diagnostics: [],
  step: 0,
  input: 1,
  followed: null,
} as const;

export const useSimulation = create<SimulationState>()((set, get) => ({
  topology: null,
  rows: [],
  auto: false,
  order: "time",
  ...UNCHANGED,
  view: "inputs",
  cut: "each",
  pins: true,
  ...NOTHING,

  open: (topology) => {
    if (get().topology === topology) return;
    running?.abort();
    useSimulated.getState().show({ edges: null, nodes: null, drops: {}, at: null });
    set({ topology, view: "inputs", pins: true, ...NOTHING, ...load(topology) });
    if (get().rows.length === 0) void fillIn(topology);
  },
  close: () => {
    running?.abort();
    useSimulated.getState().show({ edges: null, nodes: null, drops: {}, at: null });
    set({ topology: null, rows: [], ...UNCHANGED, ...NOTHING });
  },
  setRows: (rows, { gesture, label, order } = {}) => {
    const before = get();
    const history = remembered(
      before.history,
      before,
      label ?? t("Change of the inputs"),
      gesture ?? null,
    );
    set({ rows, order: order ?? before.order, history, undone: null });
    keepInputs();
  },
  setOrder: (order) => {
    if (order === get().order) return;
    get().setRows(get().rows, { order, label: t("Order of the inputs") });
  },
  stepInputs: (direction) => {
    const found = stepped(get().history, get(), direction);
    if (found === null) return;
    const { history, inputs, label } = found;
    set({ ...inputs, history, undone: { label, direction } });
    keepInputs();
  },
  setAuto: (auto) => {
    set({ auto });
    keepInputs();
  },
  setView: (view) => {
    set({ view });
    if (view === "steps" || view === "way") get().goTo(get().step);
    else {
      useSimulated.getState().show({ at: null });
      useBreakpoints.getState().stopAt(null);
    }
  },

  goTo: (step) => {
    const { shown } = get();
    const found = shown?.result.steps[step];
    set({ step });
    showStop(shown, found);
    if (shown === null || found === undefined) {
      useSimulated.getState().show({ at: null });
      return;
    }
    const index = edgeOf(shown.result.steps, step);
    const edge = index === null ? undefined : shown.document.edges[index];
    const within = shown.result.inner_edges?.[found.inner_edge ?? -1];
    useSimulated.getState().show({
      at: {
        node: found.node,
        inner: found.inner ?? null,
        edge: within !== undefined && isOpened() ? edgeId(within) : edge ? edgeId(edge) : null,
        ended: found.event === "drop",
      },
    });
    canvas()?.reveal(found.inner !== undefined && isOpened() ? found.inner : found.node);
  },

  setCut: (cut) => set({ cut }),

  run: async (workspace, plain = false, to) => {
    running?.abort();
    const { document } = useDesigner.getState();
    const sources = sourcesFor(document, get().rows);
    const { lines: listed, bad } = linesOf(get().rows, sources);
    if (bad.length > 0) {
      set({ phase: "idle", view: "inputs" });
      return;
    }
    const part = plain ? null : partOf(document, get().pins, to);
    const pinned = part === null || !get().pins ? [] : pinnedLines(document);
    const all = [...pinned, ...listed];
    const lines = inOrder(all, get().order, sources).flatMap((at): readonly Line[] =>
      all.slice(at, at + 1),
    );
    const controller = begin();
    set({ ...NOTHING, shown: get().shown, step: get().step, input: get().input });
    set({ comparing: plain });
    try {
      const ran = await simulated(workspace, document, lines, {
        ...watched(controller, document),
        ...(plain ? { plain: get().cut } : {}),
        ...(part === null ? {} : { part }),
      });
      if (running !== controller) return;
      const former = plain ? null : (get().shown?.plain ?? null);
      const made = shownOf(document, lines, ran);
      const shown = made && former !== null ? { ...made, plain: former, former: true } : made;
      set({ phase: "idle", progress: null, shown, diagnostics: ran.answer.diagnostics });
      if (shown !== null) moveBreakpoints(shown);
      showOnCanvas(shown);
    } catch (error) {
      showEnd(controller, error);
    }
  },

  cancel: (workspace) => {
    const { name, phase } = get();
    const stops = phase === "running";
    if (stops) set({ phase: "cancelling" });
    else {
      running?.abort();
      running = null;
      set({ phase: "idle", progress: null });
      showOnCanvas(get().shown);
    }
    // A second cancel does not wait: it ends all runs.
    if (name !== null)
      void cancelSimulation(workspace, phase === "cancelling" ? undefined : name).catch(
        () => undefined,
      );
  },
}));

function keepInputs() {
  const { auto, order, rows, topology } = useSimulation.getState();
  if (topology !== null) keep(topology, { rows, auto, order });
}

/** The height of the panel in pixels that a way, or the local variables at a breakpoint, need. */
const ROOMY = 380;

/** Makes the panel high enough to read its contents. */
export function makeRoom() {
  const { bottomHeight, set } = useView.getState();
  set({ bottomHeight: Math.max(bottomHeight, ROOMY) });
}

/** The result for which the panel was enlarged, so that a person can make it smaller again. */
let roomy: Shown | null = null;

/** Shows the line of a stop in the editor of its node, if the code has not changed. */
function showStop(shown: Shown | null, step: SimulationStep | undefined) {
  const { stopAt } = useBreakpoints.getState();
  const designer = useDesigner.getState();
  const node = step?.node ?? "";
  if (step?.event === "stop" && shown !== roomy) {
    roomy = shown;
    makeRoom();
  }
  const place = step?.code ?? node;
  const same = shown !== null && codeOf(shown.document, place) === codeOf(designer.document, place);
  if (step?.event !== "stop" || step.line === undefined || !same) {
    stopAt(null);
    return;
  }
  if (designer.selection.nodes.join() !== node) designer.select({ nodes: [node], edges: [] });
  stopAt({ node: place, line: step.line });
}

/** Moves breakpoints in lines without code to the statements at which they stop. */
function moveBreakpoints({ document, result }: Shown) {
  const { lines, setLines } = useBreakpoints.getState();
  for (const [node, found] of Object.entries(result.breakpoints)) {
    const same = codeOf(document, node) === codeOf(useDesigner.getState().document, node);
    if (!same || found.every(({ at, line }) => at === null || at === line)) continue;
    const places = new Map(found.map(({ at, line }) => [line, at ?? line]));
    setLines(node, [...new Set((lines[node] ?? []).map((line) => places.get(line) ?? line))]);
  }
}

/** The message of an error for the panel. */
export function failureOf(error: unknown): string {
  return error instanceof ApiError ? error.text : (error as Error).message;
}

/** Shows the counts of the current run on the canvas. */
function showProgress(document: TopologyDocument, progress: SimulationProgress) {
  const drops: Record<string, Record<string, number>> = {};
  for (const [node, { dropped }] of Object.entries(progress.nodes ?? {})) {
    const words = Object.entries(dropped).map(([reason, n]) => [reasonText(reason), n] as const);
    if (words.length > 0) drops[node] = Object.fromEntries(words);
  }
  useSimulated.getState().show({
    edges: byEdge(document, progress.edges ?? []),
    nodes: progress.nodes ?? null,
    drops,
    at: null,
  });
}

function byEdge(document: TopologyDocument, counts: readonly number[]): Record<string, number> {
  return Object.fromEntries(document.edges.map((edge, at) => [edgeId(edge), counts[at] ?? 0]));
}

/** Whether the step's fragment is opened in place. */
function isOpened() {
  return useDesigner.getState().openings !== null;
}

/** Why a record ended at a step, in words; null if it did not, or as it should. */
function lossText(step: SimulationStep, { steps }: Shown["result"], document: TopologyDocument) {
  if (step.event === "drop") {
    return dropText(step, step.parent === null ? undefined : steps[step.parent]);
  }
  const { event, reason } = step;
  const lost = event === "end" && reason !== undefined && isLoss(reason);
  return lost ? endingText(document, step, reason) : null;
}

/** Shows the counts of a result on the canvas, and keeps the current step if the result has it. */
export function showOnCanvas(shown: Shown | null) {
  if (shown === null) {
    useSimulated.getState().show({ edges: null, nodes: null, drops: {}, at: null, passed: null });
    useBreakpoints.getState().stopAt(null);
    return;
  }
  const { document, result } = shown;
  const inner = (result.inner_edges ?? []).map(
    ({ records, ...edge }) => [edgeId(edge), records] as const,
  );
  const edges = { ...Object.fromEntries(inner), ...byEdge(document, result.edges) };
  const drops: Record<string, Record<string, number>> = {};
  const count = (node: string, words: string) => {
    const mine = drops[node] ?? {};
    mine[words] = (mine[words] ?? 0) + 1;
    drops[node] = mine;
  };
  for (const step of result.steps) {
    const words = lossText(step, result, document);
    if (words === null) continue;
    count(step.node, words);
    if (step.inner !== undefined) count(step.inner, words);
  }
  useSimulated.getState().show({
    edges,
    nodes: result.nodes,
    drops,
    passed: (node, port) => simulatedAt(shown, node, port),
  });
  const { step, view } = useSimulation.getState();
  const stops = stopsOf(result.steps);
  const at = stops.includes(step) ? step : (stops[0] ?? 0);
  if (view === "steps") useSimulation.getState().goTo(at);
  else useSimulation.setState({ step: at });
}

// A simulation belongs to one topology.
useDesigner.subscribe((state, before) => {
  if (state.topologyId !== before.topologyId) useSimulation.getState().close();
});

/** Runs the inputs, also in plain Spark if its view is open. From the inputs, it switches to the results. */
export async function runAndShow(workspace: string, to?: string): Promise<void> {
  const compares = to === undefined && useSimulation.getState().view === "plain";
  await useSimulation.getState().run(workspace, compares, to);
  const { failure, phase, setView, shown, view } = useSimulation.getState();
  if (view === "inputs" && phase === "idle" && failure === null && shown !== null) {
    setView("results");
  }
}

/** Opens the simulation of a topology, and runs it if it has inputs; `to`: up to a node. */
export async function openAndRun(topology: number, workspace: string, to?: string): Promise<void> {
  useSimulation.getState().open(topology);
  const pinned = pinsOf(useDesigner.getState().document).length > 0;
  if (pinned || useSimulation.getState().rows.length > 0) await runAndShow(workspace, to);
}
