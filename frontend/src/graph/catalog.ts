/** The catalog of kinds from the API, and lookups in it. */

import type { components } from "../schema";
import { type DocumentNode, type Held, type Json, paramsOf } from "./document";
import { type Definitions, definitionOf, isFragment, portsOfFragment } from "./fragments";

type Schemas = components["schemas"];

/** `stream`, `table`, `windowed_table`, `global_table`, `store`, or `same` as the input. */
export type Role = string;
export type Parameter = Held<Schemas["Parameter"]>;
export type Format = Held<Schemas["Format"]>;
export type Kind = Held<Schemas["Kind"]>;
export type CatalogFunction = Held<Schemas["Function"]>;
export type Catalog = Held<Schemas["Catalog"]> & {
  /** Kinds that are not offered everywhere: fragments and their ports. */
  readonly parts?: readonly Kind[];
  /** The definitions that the open document contains. */
  readonly fragments?: Definitions;
};

const kindTables = new WeakMap<Catalog, Map<string, Kind>>();

/** The declaration of a kind; undefined if the catalog does not contain it. */
export function kindOf(catalog: Catalog, kind: string): Kind | undefined {
  let table = kindTables.get(catalog);
  if (table === undefined) {
    const all = [...catalog.kinds, ...(catalog.parts ?? [])];
    table = new Map(all.map((entry) => [entry.kind, entry]));
    kindTables.set(catalog, table);
  }
  return table.get(kind);
}

/** A port of one node, including dynamic ports, which depend on its parameters. */
export interface NodePort {
  readonly name: string;
  readonly side: "input" | "output" | "store";
  /** The roles that an input accepts, or the single role of an output: `same` if it is the role of the input. */
  readonly roles: readonly Role[];
  readonly many: boolean;
}

function namesIn(value: Json | undefined): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .map((item) => {
      if (typeof item === "string") return item;
      if (item !== null && typeof item === "object" && !Array.isArray(item)) return item.port;
      return undefined;
    })
    .filter((name): name is string => typeof name === "string" && name !== "");
}

function dynamicNames(node: DocumentNode, parameter: string): string[] {
  const params = paramsOf(node);
  const names = namesIn(params[parameter]);
  const extra = parameter === "branches" ? params.default_port : undefined;
  if (typeof extra === "string" && extra !== "") names.push(extra);
  return [...new Set(names)];
}

/** All ports of a node in the order in which they are drawn: inputs, the store port, outputs. */
export function portsOf(catalog: Catalog, node: DocumentNode): NodePort[] {
  if (isFragment(node)) return portsOfFragment(definitionOf(catalog.fragments, node));
  const kind = kindOf(catalog, node.kind);
  if (kind === undefined) {
    return [
      { name: "in", side: "input", roles: [], many: true },
      { name: "out", side: "output", roles: ["same"], many: true },
    ];
  }
  const ports: NodePort[] = [];
  for (const input of kind.inputs) {
    if (input.roles.length > 0 && input.roles.every((role) => role === "store")) continue;
    const names = input.dynamic === null ? [input.name] : dynamicNames(node, input.dynamic);
    for (const name of names) {
      ports.push({ name, side: "input", roles: input.roles, many: input.many });
    }
  }
  if (kind.takes_store !== null && kind.takes_store !== undefined) {
    ports.push({ name: "store", side: "store", roles: kind.takes_store, many: true });
  }
  for (const output of kind.outputs) {
    let names = output.dynamic === null ? [output.name] : dynamicNames(node, output.dynamic);
    if (names.length === 0 && output.dynamic === "outputs") names = ["out"];
    for (const name of names) {
      ports.push({ name, side: "output", roles: [output.role], many: true });
    }
  }
  return ports;
}

const STARTING_CODE = `class Each(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record)
`;

/** Initial values by widget, so that a new node has ports to connect and code to edit. */
const STARTING: Readonly<Record<string, Json>> = {
  branches: [{ port: "branch-1", predicate: "" }],
  cogroup_inputs: [{ port: "in-1", aggregator: "" }],
  output_types: {},
  code: STARTING_CODE,
};

/** The initial parameters of a node: required ones for which there is an initial value. */
export function startingParams(kind: Kind): Record<string, Json> {
  const params: Record<string, Json> = {};
  const hasCode = kind.parameters.some((parameter) => parameter.widget === "code");
  for (const parameter of kind.parameters) {
    const start = STARTING[parameter.widget];
    if (parameter.required && start !== undefined) params[parameter.name] = start;
    if (hasCode && parameter.name === "class_name") params[parameter.name] = "Each";
    if (parameter.required && parameter.default !== null && parameter.default !== undefined) {
      params[parameter.name] = parameter.default;
    }
  }
  return params;
}

/** Whether a parameter applies, given the others. */
export function isAsked(
  parameter: Parameter,
  params: Record<string, Json>,
  all: readonly Parameter[],
) {
  const condition = parameter.depends_on;
  if (condition === null || condition === undefined) return true;
  const on = all.find((other) => other.name === condition.parameter);
  const value = params[condition.parameter] ?? on?.default ?? null;
  if (condition.values.length === 0) return value !== null;
  return condition.values.some((wanted) => JSON.stringify(wanted) === JSON.stringify(value));
}
