import type { ELK } from "elkjs/lib/elk-api";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import type { Catalog } from "../graph/catalog";
import { moveNodes } from "../graph/changes";
import type { TopologyDocument } from "../graph/document";
import { pruned } from "../graph/drawing";
import { layout } from "../graph/layout";
import { patiently } from "../ui/reach";

type Layouter = Pick<ELK, "layout">;

/** Begins on first use, and again after a failure: `begin` gets a function to call when what it made fails later. */
export function untilItFails<Made>(
  begin: (failed: () => void) => Promise<Made>,
): () => Promise<Made> {
  let made: Promise<Made> | null = null;
  return () => {
    if (made !== null) return made;
    const failed = () => {
      if (made === now) made = null;
    };
    const now = begin(failed);
    made = now;
    now.catch(failed);
    return now;
  };
}

/** elk in a worker. If the worker fails, such as without a connection, so do the layouts that wait for it. */
export async function elkIn(startWorker: () => Worker, failed: () => void): Promise<Layouter> {
  const { default: Elk } = await patiently(() => import("elkjs/lib/elk-api"));
  const worker = startWorker();
  const broken = new Promise<never>((_resolve, reject) => {
    worker.addEventListener("error", ({ message }) => {
      failed();
      worker.terminate();
      reject(new Error(message || "the layout cannot be loaded"));
    });
  });
  broken.catch(() => undefined);
  const elk = new Elk({ workerFactory: () => worker });
  return { layout: (graph, options) => Promise.race([elk.layout(graph, options), broken]) };
}

/** elk is large and slow on big graphs: it is loaded on first use and runs in a worker. */
export const loadElk = untilItFails((failed) => elkIn(() => new Worker(workerUrl), failed));

/** Lays out the nodes of a document without positions, such as one written by a program or script. */
export async function placed(
  document: TopologyDocument,
  catalog: Catalog,
  load: () => Promise<Layouter> = loadElk,
): Promise<TopologyDocument> {
  const { nodes } = document;
  if (nodes.length < 2 || nodes.some((node) => node.position !== undefined)) return document;
  try {
    const all = new Set(nodes.map((node) => node.id));
    return moveNodes(document, await layout(await load(), document, catalog, all));
  } catch {
    // The nodes stay on top of each other; the person can still arrange them.
    return document;
  }
}

/** A document with the groups and notes of a drawing, unless it has its own. */
function withDrawingOf(
  { drawing }: TopologyDocument,
  document: TopologyDocument,
): TopologyDocument {
  if (drawing === undefined || document.drawing !== undefined) return document;
  return pruned({ ...document, drawing });
}

/**
 * Places the nodes of a document without positions on a drawing: those with an id of the drawing where they are there,
 * the others by a layout.
 */
export async function placedOn(
  drawing: TopologyDocument,
  document: TopologyDocument,
  catalog: Catalog,
  load: () => Promise<Layouter> = loadElk,
): Promise<TopologyDocument> {
  if (document.nodes.some((node) => node.position !== undefined)) return document;
  const known = new Map(
    drawing.nodes.flatMap(({ id, position }) => (position === undefined ? [] : [[id, position]])),
  );
  const fresh = document.nodes.filter((node) => !known.has(node.id)).map((node) => node.id);
  if (fresh.length === document.nodes.length) return placed(document, catalog, load);
  const kept = withDrawingOf(drawing, moveNodes(document, known));
  if (fresh.length === 0) return kept;
  try {
    return moveNodes(kept, await layout(await load(), kept, catalog, new Set(fresh)));
  } catch {
    return kept;
  }
}
