/** What the help knows: operators, Spark's functions, formats, and the API of processors. */

import type { Catalog, Kind } from "../graph/catalog";
import { searchKinds } from "../graph/search";
import api from "../inspector/editor/processorApi.json";

interface Member {
  readonly name: string;
  readonly call: string;
  readonly help: string;
  readonly example: string;
}

const CLASSES: Readonly<Record<string, readonly Member[]>> = api;

export type Topic =
  | {
      readonly kind: "operator";
      readonly id: string;
      readonly title: string;
      readonly operator: Kind;
    }
  | {
      readonly kind: "function" | "format" | "processor";
      readonly id: string;
      readonly title: string;
      readonly call: string;
      readonly text: string;
      readonly example: string;
    };

/** The most topics of one kind in a list of results. */
const MOST = 40;

function rank(name: string, query: string): number {
  const text = name.toLowerCase();
  return text === query ? 0 : text.startsWith(query) ? 1 : text.includes(query) ? 2 : 3;
}

/** Topics that match a query, operators first. An empty query gives all operators and the API of processors. */
export function searchHelp(catalog: Catalog, query: string): Topic[] {
  const text = query.trim().toLowerCase();
  const operators = searchKinds(catalog, query).map((operator): Topic => {
    return { kind: "operator", id: operator.kind, title: operator.title, operator };
  });
  const matches = (topic: Topic & { text: string }) =>
    rank(topic.title, text) < 3 || topic.text.toLowerCase().includes(text);
  const best = (a: Topic, b: Topic) => rank(a.title, text) - rank(b.title, text);
  const functions = catalog.functions.map((each) => ({
    kind: "function" as const,
    id: `function ${each.name}`,
    title: each.name,
    call: each.usage,
    text: each.description,
    example: "",
  }));
  const formats = catalog.formats.map((each) => ({
    kind: "format" as const,
    id: `format ${each.format}`,
    title: each.title,
    call: each.format,
    text: each.description,
    example: "",
  }));
  const members = Object.entries(CLASSES).flatMap(([name, all]) =>
    all.map((each) => ({
      kind: "processor" as const,
      id: `processor ${name}.${each.name}`,
      title: `${name}.${each.name}`,
      call: each.call,
      text: each.help,
      example: each.example,
    })),
  );
  if (text === "") return [...operators, ...members];
  const groups: Topic[][] = [
    operators.slice(0, MOST),
    functions.filter(matches).sort(best).slice(0, MOST),
    members.filter(matches).sort(best).slice(0, MOST),
    formats.filter(matches),
  ];
  // What has exactly this name comes first, with others of its kind.
  const exact = (group: Topic[]) => group.some((topic) => rank(topic.title, text) === 0);
  return [...groups.filter(exact), ...groups.filter((group) => !exact(group))].flat();
}
