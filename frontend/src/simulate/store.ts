/** The simulation of the topology that is open: its inputs, kept in this browser, and its result. */

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
import { edgeId, findNode, type TopologyDocument } from "../graph/document";
import { keyOf } from "./kept";
import { simulated } from "./polling";
import { type InputRow, type Line, linesOf, newRow, rowOf, sourcesOf } from "./scenario";
import { childrenOf, edgeOf, endingOf, stopsOf } from "./steps";
import type { PartitionStart } from "./way";
import { dropText, endingText, reasonText } from "./words";

export type View = "inputs" | "results" | "log" | "steps" | "way" | "edge" | "plain" | "tests";

/** A result with the document and the input lines that it belongs to. */
export interface Shown {
  readonly document: TopologyDocument;
  readonly lines: readonly Line[];
  readonly seconds: number;
  readonly result: SimulationResult;
  /** The same lines in plain Spark; null where no run was with it. */
  readonly plain: PlainSimulation | null;
  /** Whether the comparison with plain Spark is that of an earlier run. */
  readonly former?: boolean;
  /** Of a run that was cancelled, the number of all its lines; `lines` are those that it took. */
  readonly cancelledOf?: number;
}

/** A record of a deployment that is followed, and what its simulation begins with. */
export interface Followed {
  readonly deployment: number;
  readonly version: number;
  readonly asked: FollowRequest;
  readonly place: FollowedPlace;
  /** Records that could not be masked. */
  readonly skipped: number;
  readonly starts: readonly PartitionStart[];
  /** The micro-batch with whose stores it begins; null for empty stores. */
  readonly begins: Beginning | null;
  /** Why stores start empty: a code, or a sentence of the server. */
  readonly empty: string | null;
}

interface SimulationState {
  readonly topology: number | null;
  readonly rows: readonly InputRow[];
  readonly auto: boolean;
  readonly view: View;
  /** The micro-batches of runs in plain Spark. */
  readonly cut: Cut;
  readonly phase: "idle" | "searching" | "starting" | "running" | "cancelling";
  /** The name of what runs; null while records are searched. */
  readonly name: string | null;
  /** How far it is; null where that is not known. After a run that had to be killed, its last one. */
  readonly progress: SimulationProgress | null;
  /** Whether what runs is compared with plain Spark. */
  readonly comparing: boolean;
  readonly shown: Shown | null;
  readonly failure: string | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The index of the step that is shown. */
  readonly step: number;
  /** Number of the input record whose way is shown. */
  readonly input: number;
  /** Null where the inputs are those of this browser. */
  readonly followed: Followed | null;
  open(topology: number): void;
  close(): void;
  setRows(rows: readonly InputRow[]): void;
  setAuto(auto: boolean): void;
  setView(view: View): void;
  /** Shows a step: its record lights up on the canvas. */
  goTo(step: number): void;
  setCut(cut: Cut): void;
  /** Runs the rows; with `plain` in plain Spark, too, which takes seconds. */
  run(workspace: string, plain?: boolean): Promise<void>;
  cancel(workspace: string): void;
}

function load(topology: number): Pick<SimulationState, "rows" | "auto"> {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(topology)) ?? "{}");
    const rows = Array.isArray(kept.rows) ? kept.rows : [];
    return { rows: rows.map((row: InputRow) => newRow(row)), auto: kept.auto === true };
  } catch {
    return { rows: [], auto: false };
  }
}

function keep(state: SimulationState) {
  if (state.topology === null) return;
  try {
    localStorage.setItem(
      keyOf(state.topology),
      JSON.stringify({ rows: state.rows, auto: state.auto }),
    );
  } catch {
    // A full storage keeps the inputs until the page is left.
  }
}

/** Puts the records of the topology's template in the place of none. */
async function fillIn(topology: number): Promise<void> {
  if (localStorage.getItem(keyOf(topology)) !== null) return;
  const { inputs } = await sampleInputs(topology).catch(() => ({ inputs: [] }));
  const { rows, setRows, topology: open } = useSimulation.getState();
  if (open !== topology || rows.length > 0 || inputs.length === 0) return;
  const sources = sourcesOf(useDesigner.getState().document);
  setRows(inputs.map((line) => rowOf(line, sources)));
}

let running: AbortController | null = null;
/** Names of runs differ from those of the person's other tabs. */
const SESSION = Math.random().toString(36).slice(2);
let lastRun = 0;

/** Takes the place of what runs; it is aborted by the next one, and by *Cancel*. */
export function begin(): AbortController {
  running?.abort();
  running = new AbortController();
  return running;
}

/** What a run of a document needs in order to be watched, and to be stopped by its name. */
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

/** A result with what it belongs to; of a run that was cancelled with the lines that it took. */
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

/** Shows why a run has no result. */
export function showEnd(controller: AbortController, error: unknown) {
  if (controller.signal.aborted || running !== controller) return;
  const { progress, shown } = useSimulation.getState();
  const cancelled = error instanceof ApiError && error.code === "simulation_cancelled";
  if (cancelled && progress?.edges !== undefined) {
    // It did not stop between two records: all there is are the counts so far.
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
  view: "inputs",
  cut: "each",
  ...NOTHING,

  open: (topology) => {
    if (get().topology === topology) return;
    running?.abort();
    useSimulated.getState().show({ edges: null, drops: {}, at: null });
    set({ topology, view: "inputs", ...NOTHING, ...load(topology) });
    if (get().rows.length === 0) void fillIn(topology);
  },
  close: () => {
    running?.abort();
    useSimulated.getState().show({ edges: null, drops: {}, at: null });
    set({ topology: null, rows: [], ...NOTHING });
  },
  setRows: (rows) => {
    set({ rows });
    keep(get());
  },
  setAuto: (auto) => {
    set({ auto });
    keep(get());
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
    useSimulated.getState().show({
      at: {
        node: found.node,
        edge: edge === undefined ? null : edgeId(edge),
        ended: found.event === "drop",
      },
    });
    canvas()?.reveal(found.node);
  },

  setCut: (cut) => set({ cut }),

  run: async (workspace, plain = false) => {
    running?.abort();
    const { document } = useDesigner.getState();
    const { lines, bad } = linesOf(get().rows, sourcesOf(document));
    if (bad.length > 0) {
      set({ phase: "idle", view: "inputs" });
      return;
    }
    const controller = begin();
    set({ ...NOTHING, shown: get().shown, step: get().step, input: get().input });
    set({ comparing: plain });
    try {
      const ran = await simulated(workspace, document, lines, {
        ...watched(controller, document),
        ...(plain ? { plain: get().cut } : {}),
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
    // Who cancels twice does not wait: that ends all runs.
    if (name !== null)
      void cancelSimulation(workspace, phase === "cancelling" ? undefined : name).catch(
        () => undefined,
      );
  },
}));

/** Height in pixels in which a way, or the locals at a breakpoint, have room. */
const ROOMY = 380;

/** Makes the panel high enough to read what is below its bars. */
export function makeRoom() {
  const { bottomHeight, set } = useView.getState();
  set({ bottomHeight: Math.max(bottomHeight, ROOMY) });
}

/** The result for whose stops there is room already: who makes the panel lower keeps it so. */
let roomy: Shown | null = null;

/** Shows the line of a stop in the editor of its node, where that has the same code. */
function showStop(shown: Shown | null, step: SimulationStep | undefined) {
  const { stopAt } = useBreakpoints.getState();
  const designer = useDesigner.getState();
  const node = step?.node ?? "";
  if (step?.event === "stop" && shown !== roomy) {
    roomy = shown;
    makeRoom();
  }
  const same = shown !== null && codeOf(shown.document, node) === codeOf(designer.document, node);
  if (step?.event !== "stop" || step.line === undefined || !same) {
    stopAt(null);
    return;
  }
  if (designer.selection.nodes.join() !== node) designer.select({ nodes: [node], edges: [] });
  stopAt({ node, line: step.line });
}

/** Breakpoints in lines without code move to the statements at which they stop. */
function moveBreakpoints({ document, result }: Shown) {
  const { lines, setLines } = useBreakpoints.getState();
  for (const [node, found] of Object.entries(result.breakpoints)) {
    const same = codeOf(document, node) === codeOf(useDesigner.getState().document, node);
    if (!same || found.every(({ at, line }) => at === null || at === line)) continue;
    const places = new Map(found.map(({ at, line }) => [line, at ?? line]));
    setLines(node, [...new Set((lines[node] ?? []).map((line) => places.get(line) ?? line))]);
  }
}

/** An error as the panel shows it. */
export function failureOf(error: unknown): string {
  return error instanceof ApiError ? error.text : (error as Error).message;
}

/** Puts the counts of a run that is under way on the canvas. */
function showProgress(document: TopologyDocument, progress: SimulationProgress) {
  const drops: Record<string, Record<string, number>> = {};
  for (const [node, { dropped }] of Object.entries(progress.nodes ?? {})) {
    const words = Object.entries(dropped).map(([reason, n]) => [reasonText(reason), n] as const);
    if (words.length > 0) drops[node] = Object.fromEntries(words);
  }
  useSimulated.getState().show({ edges: byEdge(document, progress.edges ?? []), drops, at: null });
}

function byEdge(document: TopologyDocument, counts: readonly number[]): Record<string, number> {
  return Object.fromEntries(document.edges.map((edge, at) => [edgeId(edge), counts[at] ?? 0]));
}

/** Puts the counts of a result on the canvas, and the step where the last one was. */
export function showOnCanvas(shown: Shown | null) {
  if (shown === null) {
    useSimulated.getState().show({ edges: null, drops: {}, at: null });
    useBreakpoints.getState().stopAt(null);
    return;
  }
  const { document, result } = shown;
  const edges = byEdge(document, result.edges);
  const drops: Record<string, Record<string, number>> = {};
  const count = (node: string, words: string) => {
    const mine = drops[node] ?? {};
    mine[words] = (mine[words] ?? 0) + 1;
    drops[node] = mine;
  };
  const children = childrenOf(result.steps);
  for (const step of result.steps) {
    if (step.event === "drop") {
      count(
        step.node,
        dropText(step, step.parent === null ? undefined : result.steps[step.parent]),
      );
      continue;
    }
    const ending = endingOf(document, step, children);
    if (ending?.why === "filtered" || ending?.why === "unmatched" || ending?.why === "no_row") {
      count(step.node, endingText(ending, findNode(document, step.node)?.kind ?? ""));
    }
  }
  useSimulated.getState().show({ edges, drops });
  const { step, view } = useSimulation.getState();
  const stops = stopsOf(result.steps);
  const at = stops.includes(step) ? step : (stops[0] ?? 0);
  if (view === "steps") useSimulation.getState().goTo(at);
  else useSimulation.setState({ step: at });
}

// What another topology shows is none of this one's.
useDesigner.subscribe((state, before) => {
  if (state.topologyId !== before.topologyId) useSimulation.getState().close();
});

/** Runs, in plain Spark where that is looked at; who looked at the inputs sees the outputs next. */
export async function runAndShow(workspace: string): Promise<void> {
  await useSimulation.getState().run(workspace, useSimulation.getState().view === "plain");
  const { failure, phase, setView, shown, view } = useSimulation.getState();
  if (view === "inputs" && phase === "idle" && failure === null && shown !== null) {
    setView("results");
  }
}

/** Runs the records of a topology, where it has some. */
export async function openAndRun(topology: number, workspace: string): Promise<void> {
  useSimulation.getState().open(topology);
  if (useSimulation.getState().rows.length > 0) await runAndShow(workspace);
}
