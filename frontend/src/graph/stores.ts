/** The stores that a processor uses, as its code sees them. */

import { type Catalog, kindOf } from "./catalog";
import {
  type DocumentNode,
  findNode,
  isStoreKind,
  paramsOf,
  type TopologyDocument,
  targetPort,
} from "./document";
import { factsOf, storeOfWindow } from "./kinds";

/** The class of each connected store, by the name by which the code asks for it. */
export type StoreClasses = Readonly<Record<string, string>>;

/** The kind of a table's own store: that of its store node, or by its window. */
function ownKind(node: DocumentNode, store: DocumentNode | undefined): string {
  if (store !== undefined) return store.kind;
  const { window } = paramsOf(node);
  const windowed = window !== null && typeof window === "object" && !Array.isArray(window);
  return storeOfWindow(windowed ? (window.type ?? null) : undefined);
}

/** The classes of the stores that are connected to a node. Those of tables can only be read. */
export function storeClasses(
  document: TopologyDocument,
  catalog: Catalog,
  node: string,
): StoreClasses {
  const into = (target: string) =>
    document.edges
      .filter((edge) => edge.target === target && targetPort(edge) === "store")
      .map((edge) => findNode(document, edge.source))
      .filter((each) => each !== undefined);
  const owner = (store: string) =>
    document.edges
      .filter((edge) => edge.source === store)
      .map((edge) => findNode(document, edge.target))
      .find((each) => each !== undefined && kindOf(catalog, each.kind)?.reads_stores === false);
  const found: Record<string, string> = {};
  for (const connected of into(node)) {
    const table = isStoreKind(connected.kind) ? owner(connected.id) : connected;
    const store = isStoreKind(connected.kind)
      ? connected
      : into(connected.id).find((each) => isStoreKind(each.kind));
    const name = store === undefined ? connected.id : String(paramsOf(store).name ?? store.id);
    const kind = table === undefined ? connected.kind : ownKind(table, store);
    const reads = table !== undefined && table.id !== node;
    found[name] = `${reads ? "ReadOnly" : ""}${factsOf(kind).storeClass ?? "KeyValueStore"}`;
  }
  return found;
}
