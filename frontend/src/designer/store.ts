/**
 * The open topology: document, selection, history, and the compiler's result.
 *
 * `change` is the only way to change the document; one gesture makes one undo entry. The page around the designer
 * reads `document` and `revision` to save the draft.
 */

import { create } from "zustand";
import type { CompileResult, Diagnostic } from "../api/types";
import type { Catalog } from "../graph/catalog";
import { emptyDocument, findNode, type Position, type TopologyDocument } from "../graph/document";
import {
  expandGroup,
  type Folds,
  fragmentAround,
  NO_FOLDS,
  notesOf,
  setGroup,
} from "../graph/drawing";
import {
  EMPTY_HISTORY,
  endGesture,
  type History,
  readHistory,
  remember,
  type Snapshot,
  stepBack,
  stepForward,
  writeHistory,
} from "../graph/history";
import type { draw } from "../graph/opening";
import { type Translated, t } from "../ui/i18n";
import { canvas } from "./canvasApi";
import { drawnOf, foldedOf } from "./drawn";
import { localize } from "./localize";
import { same, shareEntries } from "./share";

export type Layer = "design" | "plan" | "runtime";

/** Stands for the node's label where the name of a parameter is expected. */
export const NODE_LABEL = "@label";

/** The canvas's translation in pixels, and its scale. */
interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** A request to scroll to a node, and to focus one of its parameters. */
export interface FocusRequest {
  /** Null for the settings of the topology. */
  readonly node: string | null;
  readonly parameter: string | null;
  readonly number: number;
}

interface Selection {
  readonly nodes: readonly string[];
  readonly edges: readonly string[];
  readonly notes?: readonly string[];
  /** The chosen node within the selected fragment node, under the id with which it runs. */
  readonly inner?: string | undefined;
}

/** Fragments that are opened in place here, and the function that draws them, which is loaded with the first one. */
interface Openings {
  readonly ids: readonly string[];
  readonly draw: typeof draw;
}

interface ChangeOptions {
  /** Consecutive changes with the same gesture become one undo entry. */
  readonly gesture?: string;
  /** The selection after the change; unchanged if omitted. */
  readonly select?: Selection;
}

const NO_NOTES: readonly string[] = [];
const NOTHING_SELECTED: Selection = { nodes: [], edges: [] };

/** The state with which every document is opened. */
const JUST_OPENED = {
  selection: NOTHING_SELECTED,
  layer: "design",
  result: null,
  nodeDiagnostics: {},
  compileFailure: null,
  focusRequest: null,
  hovered: null,
  viewport: null,
  folds: NO_FOLDS,
  openings: null,
} as const;
const NO_DIAGNOSTICS: readonly Diagnostic[] = [];

export interface DesignerState {
  readonly topologyId: number | null;
  readonly document: TopologyDocument;
  /** Incremented by every change of the document, including undo and redo. */
  readonly revision: number;
  readonly catalog: Catalog | null;
  readonly readOnly: boolean;
  /** Whether it is a fragment, which has inputs and outputs and is not deployed. */
  readonly isFragment: boolean;
  readonly selection: Selection;
  readonly layer: Layer;
  readonly history: History;
  /** The latest result of the compiler; `result.revision` identifies its document. */
  readonly result: CompileResult | null;
  readonly nodeDiagnostics: Readonly<Record<string, readonly Diagnostic[]>>;
  /** Why the compiler did not respond; null if it did. */
  readonly compileFailure: string | null;
  readonly focusRequest: FocusRequest | null;
  /** The node under the pointer on the canvas or in a list; the other views highlight it. */
  readonly hovered: string | null;
  /** The canvas's last viewport, restored when it is mounted again; null before the first time. */
  readonly viewport: Viewport | null;
  /** Groups that are open or closed here, unlike in the document. */
  readonly folds: Folds;
  readonly openings: Openings | null;

  open(place: {
    topologyId: number;
    document: TopologyDocument;
    catalog: Catalog;
    readOnly?: boolean;
    isFragment?: boolean;
  }): void;
  close(): void;
  /** Sets the catalog, translated into the language of the page. */
  setCatalog(catalog: Catalog): void;
  setReadOnly(readOnly: boolean): void;
  /** Changes the document. `label` is what undo shows. */
  change(
    label: Translated,
    how: (document: TopologyDocument) => TopologyDocument,
    options?: ChangeOptions,
  ): void;
  endGesture(): void;
  undo(): void;
  redo(): void;
  select(selection: Partial<Selection>): void;
  setLayer(layer: Layer): void;
  /** Collapses or expands a group: in the document or, if that may not be changed, here alone. */
  fold(group: string, collapsed: boolean): void;
  /** Opens a fragment node in place, or closes it, in this browser alone. */
  openInPlace(fragment: string, open: boolean): Promise<void>;
  setHovered(node: string | null): void;
  /** Selects a node, brings it into view and focuses `parameter`, if passed. */
  goTo(node: string | null, parameter?: string | null): void;
  setResult(result: CompileResult): void;
  setCompileFailure(message: string | null): void;
}

const openedKey = (topologyId: number) => `millrace.opened.${topologyId}`;

function keptOpen(topologyId: number): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(openedKey(topologyId)) ?? "[]");
    return Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

function keepOpen(topologyId: number, ids: readonly string[]) {
  try {
    if (ids.length === 0) localStorage.removeItem(openedKey(topologyId));
    else localStorage.setItem(openedKey(topologyId), JSON.stringify(ids));
  } catch {
    // They are closed again in the next session.
  }
}

function historyKey(topologyId: number): string {
  return `millrace.history.${topologyId}`;
}

/** The longest history of one topology in the session storage, in characters. */
const HISTORY_LIMIT = 1_500_000;

function loadHistory(topologyId: number, document: TopologyDocument): History {
  try {
    const text = sessionStorage.getItem(historyKey(topologyId));
    if (text === null) return EMPTY_HISTORY;
    const [fingerprint = "", ...rest] = text.split("\n");
    // A stored history does not fit a draft that has since been changed elsewhere.
    return fingerprint === fingerprintOf(document) ? readHistory(rest.join("\n")) : EMPTY_HISTORY;
  } catch {
    return EMPTY_HISTORY;
  }
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, item) =>
    item !== null && typeof item === "object" && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function fingerprintOf(document: TopologyDocument): string {
  const text = sortedJson(document);
  let hash = 5381;
  for (let index = 0; index < text.length; index += 1) {
    hash = ((hash << 5) + hash + text.charCodeAt(index)) | 0;
  }
  return `${text.length}.${hash}`;
}

let pendingSave: ReturnType<typeof setTimeout> | undefined;

function saveHistorySoon() {
  clearTimeout(pendingSave);
  pendingSave = setTimeout(saveHistoryNow, 400);
}

function saveHistoryNow() {
  clearTimeout(pendingSave);
  const { topologyId, document, history } = useDesigner.getState();
  if (topologyId === null) return;
  try {
    const text = writeHistory(history, HISTORY_LIMIT);
    sessionStorage.setItem(historyKey(topologyId), `${fingerprintOf(document)}\n${text}`);
  } catch {
    // If the storage is full, undo does not reach back beyond a reload.
    sessionStorage.removeItem(historyKey(topologyId));
  }
}

/** The catalog with the definitions of a document, on which the ports of its nodes depend. */
function knowing(catalog: Catalog | null, { fragments }: TopologyDocument): Catalog | null {
  if (catalog === null || catalog.fragments === fragments) return catalog;
  const { fragments: _old, ...rest } = catalog;
  return fragments === undefined ? rest : { ...rest, fragments };
}

function stillThere(document: TopologyDocument, ids: readonly string[]): string[] {
  return ids.filter((id) => findNode(document, id) !== undefined);
}

function byNode(diagnostics: readonly Diagnostic[]): Record<string, readonly Diagnostic[]> {
  const groups: Record<string, Diagnostic[]> = {};
  for (const diagnostic of diagnostics) {
    for (const node of [diagnostic.node, diagnostic.inner]) {
      if (node == null) continue;
      const group = groups[node];
      if (group === undefined) groups[node] = [diagnostic];
      else group.push(diagnostic);
    }
  }
  return groups;
}

export const useDesigner = create<DesignerState>()((set, get) => {
  function snapshot(label: string): Snapshot {
    return { document: get().document, selected: get().selection.nodes, label };
  }

  function show(step: { history: History; shown: Snapshot } | null) {
    if (step === null || get().readOnly) return;
    set({
      document: step.shown.document,
      catalog: knowing(get().catalog, step.shown.document),
      history: step.history,
      revision: get().revision + 1,
      selection: { nodes: stillThere(step.shown.document, step.shown.selected), edges: [] },
    });
    saveHistorySoon();
  }

  /** Opens the groups that hide a node, here alone. */
  function unfold(node: string) {
    for (;;) {
      const hiding = foldedOf(get()).hidden.get(node);
      if (hiding?.collapsed !== true) return;
      set({ folds: { ...get().folds, [hiding.group.id]: false } });
    }
  }

  /** Shows these fragments opened. */
  async function showOpened(ids: readonly string[]) {
    const { topologyId } = get();
    const { draw } = await import("../graph/opening");
    if (get().topologyId === topologyId) set({ openings: ids.length === 0 ? null : { ids, draw } });
  }

  return {
    ...JUST_OPENED,
    topologyId: null,
    document: emptyDocument(""),
    revision: 0,
    catalog: null,
    readOnly: false,
    isFragment: false,
    history: EMPTY_HISTORY,

    open: ({ topologyId, document, catalog, readOnly = get().readOnly, isFragment = false }) => {
      saveHistoryNow();
      set({
        ...JUST_OPENED,
        topologyId,
        document,
        catalog: knowing(localize(catalog), document),
        isFragment,
        readOnly,
        revision: get().revision + 1,
        history: loadHistory(topologyId, document),
      });
      const kept = document.fragments === undefined ? [] : keptOpen(topologyId);
      if (kept.length > 0) void showOpened(kept);
    },

    close: () => {
      saveHistoryNow();
      set({ topologyId: null, result: null, nodeDiagnostics: {}, focusRequest: null });
    },

    setCatalog: (catalog) => set({ catalog: knowing(localize(catalog), get().document) }),
    setReadOnly: (readOnly) => set({ readOnly }),

    change: (label, how, options = {}) => {
      const { document, history, readOnly, revision, selection } = get();
      if (readOnly) return;
      const next = how(document);
      if (next === document) {
        if (options.select !== undefined) get().select(options.select);
        return;
      }
      set({
        document: next,
        catalog: knowing(get().catalog, next),
        revision: revision + 1,
        history: remember(history, snapshot(label), options.gesture ?? null),
        selection: options.select ?? {
          nodes: stillThere(next, selection.nodes),
          edges: selection.edges,
          notes: (selection.notes ?? NO_NOTES).filter((id) =>
            notesOf(next).some((note) => note.id === id),
          ),
        },
      });
      saveHistorySoon();
    },

    endGesture: () => set({ history: endGesture(get().history) }),
    undo: () => show(stepBack(get().history, snapshot(""))),
    redo: () => show(stepForward(get().history, snapshot(""))),

    select: ({ nodes = [], edges = [], notes = NO_NOTES, inner }) => {
      const now = get().selection;
      const marks = same(now.notes ?? NO_NOTES, notes) && now.inner === inner;
      if (marks && same(now.nodes, nodes) && same(now.edges, edges)) return;
      set({ selection: { nodes, edges, notes, inner }, history: endGesture(get().history) });
    },

    fold: (group, collapsed) => {
      const { catalog, change, folds, readOnly } = get();
      if (readOnly || fragmentAround(group) !== null) {
        set({ folds: { ...folds, [group]: collapsed } });
        return;
      }
      const { [group]: _own, ...others } = folds;
      change(collapsed ? t("Collapse the group") : t("Expand the group"), (document) =>
        collapsed || catalog === null
          ? setGroup(document, group, { collapsed })
          : expandGroup(document, catalog, group),
      );
      set({ folds: others });
    },

    openInPlace: async (fragment, open) => {
      const { openings, topologyId } = get();
      const others = (openings?.ids ?? []).filter((id) => id !== fragment);
      const ids = open ? [...others, fragment] : others;
      if (topologyId !== null) keepOpen(topologyId, ids);
      await showOpened(ids);
      if (open) requestAnimationFrame(() => canvas()?.contain(fragment));
    },

    setLayer: (layer) => set({ layer }),
    setHovered: (hovered) => {
      if (get().hovered !== hovered) set({ hovered });
    },

    goTo: (node, parameter = null) => {
      if (node !== null && findNode(get().document, node) === undefined) return;
      get().select({ nodes: node === null ? [] : [node] });
      if (node !== null) unfold(node);
      set({ focusRequest: { node, parameter, number: (get().focusRequest?.number ?? 0) + 1 } });
    },

    setResult: (result) => {
      const old = get().result;
      if (old !== null && result.revision < old.revision) return;
      const plan =
        old?.plan != null && result.plan !== null && same(old.plan, result.plan)
          ? old.plan
          : result.plan;
      set({
        result: {
          ...result,
          plan,
          diagnostics:
            old !== null && same(old.diagnostics, result.diagnostics)
              ? old.diagnostics
              : result.diagnostics,
          ports: shareEntries(old?.ports, result.ports),
          summary: shareEntries(old?.summary, result.summary),
          ...(result.fragments === undefined
            ? {}
            : { fragments: shareEntries(old?.fragments, result.fragments) }),
        },
        nodeDiagnostics: shareEntries(get().nodeDiagnostics, byNode(result.diagnostics)),
        compileFailure: null,
      });
    },

    setCompileFailure: (compileFailure) => set({ compileFailure }),
  };
});

/** Selects a drawn node and brings it into view. */
export function goToDrawn(node: string) {
  const state = useDesigner.getState();
  const owner = drawnOf(state).owners.get(node);
  state.goTo(owner ?? node);
  if (owner !== undefined) state.select({ nodes: [owner], inner: node });
}

/** The place in the document for one in the drawing. */
export const inDocument = (at: Position): Position =>
  drawnOf(useDesigner.getState()).toDocument(at);

export function useDiagnosticsOf(node: string): readonly Diagnostic[] {
  return useDesigner((state) => state.nodeDiagnostics[node] ?? NO_DIAGNOSTICS);
}

if (typeof window !== "undefined") window.addEventListener("pagehide", saveHistoryNow);
