/** Searches the palette by name, synonym and intent, and documents by all their texts. */

import type { Catalog, Kind } from "./catalog";
import { type DocumentNode, type Json, labelOf, paramsOf, type TopologyDocument } from "./document";
import { groupsOf, notesOf } from "./drawing";

function words(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== "");
}

/** Words that are ignored in a search. */
const FILLERS = new Set([
  "a",
  "an",
  "the",
  "of",
  "by",
  "to",
  "for",
  "with",
  "and",
  "or",
  "in",
  "my",
]);

function scoreWord(word: string, kind: Kind): number {
  const title = kind.title.toLowerCase();
  if (title === word) return 120;
  if (title.startsWith(word)) return 100;
  if (words(title).some((part) => part.startsWith(word))) return 80;
  const synonyms = kind.synonyms.map((synonym) => synonym.toLowerCase());
  if (synonyms.includes(word)) return 75;
  if (synonyms.some((synonym) => words(synonym).some((part) => part.startsWith(word)))) return 60;
  if (kind.kind.includes(word)) return 50;
  if (
    synonyms.some(
      (synonym) => synonym.includes(word) || (synonym.length > 1 && word.includes(synonym)),
    )
  ) {
    return 40;
  }
  if (words(kind.description).some((part) => part.startsWith(word))) return 20;
  if (words(kind.help).some((part) => part.startsWith(word))) return 8;
  return 0;
}

/** Kinds that match a query, best first. An empty query matches all, in the order of the catalog. */
export function searchKinds(catalog: Catalog, query: string): Kind[] {
  const text = query.trim().toLowerCase();
  if (text === "") return [...catalog.kinds];
  const all = words(text);
  const meaningful = all.filter((word) => !FILLERS.has(word));
  const wanted = meaningful.length === 0 ? all : meaningful;
  const scored = catalog.kinds.map((kind) => {
    const whole = scoreWord(text, kind) * 2;
    const parts = wanted.map((word) => scoreWord(word, kind));
    const hits = parts.filter((part) => part > 0).length;
    // A query may contain words that match no kind, but at least half of them have to match.
    const enough = hits * 2 >= wanted.length;
    return { kind, score: whole + (enough ? parts.reduce((sum, part) => sum + part, 0) : 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ kind }) => kind);
}

/** A node in which a text was found, and where: in its label, its id, or the parameter of that name. */
interface Hit {
  readonly node: DocumentNode;
  readonly where: string;
  readonly text: string;
}

/** The texts in a parameter, also inside lists and objects. */
function textsOf(value: Json): string[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value === "object") return Object.values(value).flatMap(textsOf);
  return [String(value)];
}

/**
 * A place on the canvas where a text was found: a node, a note, or the title of a group. `where` is the name of a
 * parameter, or `label`, `id`, `description`, `note`, `group`.
 */
export interface Found {
  readonly on: "node" | "note" | "group";
  readonly id: string;
  readonly where: string;
  readonly text: string;
}

/** Every place that contains a text, node by node in the order of the document. */
export function searchEverything(document: TopologyDocument, query: string): Found[] {
  const text = query.trim().toLowerCase();
  if (text === "") return [];
  const has = (candidate: string) => candidate.toLowerCase().includes(text);
  const found: Found[] = [];
  for (const node of document.nodes) {
    const add = (where: string, shown: string) => {
      found.push({ on: "node", id: node.id, where, text: shown });
    };
    if (has(labelOf(node))) add("label", labelOf(node));
    else if (has(node.id) || has(node.kind)) add("id", node.id);
    if (node.description !== undefined && has(node.description)) {
      add("description", node.description);
    }
    for (const [name, value] of Object.entries(paramsOf(node))) {
      const hit = textsOf(value).find(has);
      if (hit !== undefined) add(name, hit);
    }
  }
  for (const group of groupsOf(document)) {
    const title = group.title ?? "";
    if (has(title)) found.push({ on: "group", id: group.id, where: "group", text: title });
  }
  for (const note of notesOf(document)) {
    const line = (note.text ?? "").split("\n").find(has);
    if (line !== undefined) found.push({ on: "note", id: note.id, where: "note", text: line });
  }
  return found;
}

export function searchNodes(document: TopologyDocument, query: string): Hit[] {
  const text = query.trim().toLowerCase();
  if (text === "") return [];
  const hits: (Hit & { rank: number })[] = [];
  for (const node of document.nodes) {
    const label = labelOf(node);
    if (label.toLowerCase().includes(text)) {
      hits.push({
        node,
        where: "label",
        text: label,
        rank: label.toLowerCase().startsWith(text) ? 0 : 1,
      });
      continue;
    }
    if (node.id.includes(text) || node.kind.includes(text)) {
      hits.push({ node, where: "id", text: node.id, rank: 2 });
      continue;
    }
    for (const [name, value] of Object.entries(paramsOf(node))) {
      const shown = typeof value === "string" ? value : JSON.stringify(value);
      if (!shown.toLowerCase().includes(text)) continue;
      hits.push({ node, where: name, text: shown, rank: 3 });
      break;
    }
  }
  return hits.sort((a, b) => a.rank - b.rank);
}
