/** Fragments: parts of topologies that a document contains at the versions that its nodes use. */

import type { Kind, NodePort } from "./catalog";
import type { DocumentNode, Json, TopologyDocument } from "./document";

export const FRAGMENT = "fragment";
export const INPUT = "fragment.input";
export const OUTPUT = "fragment.output";

export type Definition = NonNullable<TopologyDocument["fragments"]>[string];
export type Definitions = TopologyDocument["fragments"];

const NO_STATE = {
  family: "fragments",
  example: null,
  takes_store: null,
  reads_stores: false,
  stateful: false,
  changes_key: false,
};
const PLAIN = {
  required: false,
  default: null,
  choices: null,
  unit: null,
  expression: null,
  depends_on: null,
  min: null,
  max: null,
};
const TYPE = { ...PLAIN, widget: "type" };

/** The kinds of fragments and of their ports, which only the page and `expand` of the compiler know. */
export const KINDS_OF_FRAGMENTS: readonly Kind[] = [
  {
    ...NO_STATE,
    kind: FRAGMENT,
    title: "Fragment",
    icon: "puzzle",
    description: "Stands for the nodes of a fragment.",
    help: "Stands for the nodes of a fragment.",
    synonyms: [],
    inputs: [],
    outputs: [],
    parameters: [],
  },
  {
    ...NO_STATE,
    kind: INPUT,
    title: "Input",
    icon: "login-2",
    description: "Where records enter the fragment.",
    help: "Where records enter the fragment.",
    synonyms: [],
    inputs: [],
    outputs: [{ name: "out", role: "stream", dynamic: null }],
    parameters: [
      {
        ...PLAIN,
        name: "role",
        title: "Role",
        widget: "choice",
        choices: ["stream", "table", "global_table"],
        default: "stream",
        help: "What the input takes.",
      },
      { ...TYPE, name: "key", title: "Key type", help: "Empty: any type." },
      {
        ...TYPE,
        name: "value",
        title: "Value type",
        help: "Empty: any type. A struct may have further fields.",
      },
    ],
  },
  {
    ...NO_STATE,
    kind: OUTPUT,
    title: "Output",
    icon: "logout-2",
    description: "Where records leave the fragment.",
    help: "Where records leave the fragment.",
    synonyms: [],
    inputs: [
      { name: "in", roles: ["stream", "table", "windowed_table"], many: true, dynamic: null },
    ],
    outputs: [],
    parameters: [],
  },
];

/** The reference of a fragment node, such as `clean@2`. */
export function referenceOf(node: DocumentNode): string {
  const found = node.params?.fragment;
  return typeof found === "string" ? found : "";
}

export function isFragment(node: { readonly kind: string }): boolean {
  return node.kind === FRAGMENT;
}

/** Name and version of a reference. */
export function partsOf(reference: string): { readonly name: string; readonly version: number } {
  const at = reference.lastIndexOf("@");
  return { name: reference.slice(0, Math.max(0, at)), version: Number(reference.slice(at + 1)) };
}

/** The definition that a node uses; undefined if the document does not contain it. */
export function definitionOf(
  definitions: Definitions | undefined,
  node: DocumentNode,
): Definition | undefined {
  const found = definitions?.[referenceOf(node)];
  return Array.isArray(found?.nodes) && Array.isArray(found?.edges) ? found : undefined;
}

/** The ports of a fragment node: the inputs and outputs of its definition. */
export function portsOfFragment(definition: Definition | undefined): NodePort[] {
  if (definition === undefined) {
    return [
      { name: "in", side: "input", roles: [], many: true },
      { name: "out", side: "output", roles: ["same"], many: true },
    ];
  }
  const inputs = definition.nodes.filter((node) => node.kind === INPUT);
  const outputs = definition.nodes.filter((node) => node.kind === OUTPUT);
  return [
    ...inputs.map(({ id, params }): NodePort => {
      const role: Json = (params as DocumentNode["params"])?.role ?? "stream";
      const roles = role === "table" ? ["table", "windowed_table"] : [String(role)];
      return { name: id, side: "input", roles, many: true };
    }),
    ...outputs.map(
      ({ id }): NodePort => ({ name: id, side: "output", roles: ["same"], many: true }),
    ),
  ];
}

/** The definitions that nodes use, and those that these use. */
export function definitionsOf(
  definitions: Definitions | undefined,
  nodes: readonly DocumentNode[],
): NonNullable<Definitions> {
  const found: Record<string, Definition> = {};
  const ahead = [...nodes];
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    const reference = referenceOf(node);
    const definition = definitionOf(definitions, node);
    if (!isFragment(node) || definition === undefined || reference in found) continue;
    found[reference] = definition;
    ahead.push(...(definition.nodes as readonly DocumentNode[]));
  }
  return found;
}
