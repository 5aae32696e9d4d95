/** Parameters of a topology: declared values that stand for `${name}` in its settings and nodes. */

import type { Json, TopologyDocument } from "./document";

export type TopologyParameter = NonNullable<TopologyDocument["parameters"]>[string];

export const ENVIRONMENTS = ["dev", "test", "prod"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export const PARAMETER_TYPES = ["topic", "text", "number", "duration", "boolean"] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

const PLACE = /\$\{([^{}]*)\}/g;

/** The declared parameters in their order, however wrong the document is. */
export function parametersOf(
  document: TopologyDocument,
): readonly (readonly [string, TopologyParameter])[] {
  const found = document.parameters;
  if (found === null || typeof found !== "object" || Array.isArray(found)) return [];
  return Object.entries(found).filter(([, each]) => each !== null && typeof each === "object");
}

/** The text that stands for a parameter's value. */
export const placeOf = (name: string): string => `\${${name}}`;

/** Replaces the texts in a JSON value. */
export function mapped(value: Json, change: (text: string) => Json): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => mapped(each, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, mapped(each, change)]),
  );
}

/** Replaces the texts of settings, topics and parameters of nodes, except Python code. */
function mappedDocument(
  document: TopologyDocument,
  change: (text: string) => Json,
): TopologyDocument {
  const { settings, topics } = document;
  return {
    ...document,
    ...(settings === undefined
      ? {}
      : { settings: mapped(settings as Json, change) as NonNullable<typeof settings> }),
    ...(topics === undefined
      ? {}
      : {
          topics: Object.fromEntries(
            Object.entries(topics).map(([name, each]) => [String(change(name)), each]),
          ),
        }),
    nodes: document.nodes.map((node) =>
      node.params === undefined
        ? node
        : {
            ...node,
            params: Object.fromEntries(
              Object.entries(node.params).map(([name, each]) => [
                name,
                isCode(name) ? each : mapped(each, change),
              ]),
            ),
          },
    ),
  };
}

/** Whether a parameter of nodes is Python source, in which `${` is text. */
export function isCode(parameter: string): boolean {
  return parameter === "code" || parameter === "functions";
}

/** How often settings, topics and nodes refer to a parameter. */
export function usesOf(document: TopologyDocument, name: string): number {
  let count = 0;
  mappedDocument(document, (text) => {
    count += [...text.matchAll(PLACE)].filter((match) => match[1] === name).length;
    return text;
  });
  return count;
}

/** The document with the default values of its parameters, as text in texts: for reading names of topics and the like. */
export function withDefaults(document: TopologyDocument): TopologyDocument {
  const declared = parametersOf(document);
  if (declared.length === 0) return document;
  const values = new Map(declared.map(([name, each]) => [name, each.default as Json]));
  return mappedDocument(document, (text) => {
    const whole = /^\$\{([^{}]*)\}$/.exec(text);
    if (whole !== null) return values.get(whole[1] ?? "") ?? text;
    return text.replace(PLACE, (place, name: string) => String(values.get(name) ?? place));
  });
}

/** The document with the values of an environment as the defaults of its parameters. */
export function inEnvironment(
  document: TopologyDocument,
  environment: string | null,
): TopologyDocument {
  const declared = parametersOf(document);
  if (environment === null || declared.length === 0) return document;
  const parameters = Object.fromEntries(
    declared.map(([name, each]) => [
      name,
      { ...each, default: each.values?.[environment as Environment] ?? each.default },
    ]),
  );
  return { ...document, parameters };
}

/** A name that no parameter has. */
function freshName(document: TopologyDocument, wanted: string): string {
  const taken = new Set(parametersOf(document).map(([name]) => name));
  let [name, number] = [wanted, 2];
  while (taken.has(name)) {
    name = `${wanted}_${number}`;
    number += 1;
  }
  return name;
}

export function addParameter(document: TopologyDocument): TopologyDocument {
  const name = freshName(document, "parameter");
  return {
    ...document,
    parameters: { ...document.parameters, [name]: { type: "text", default: "" } },
  };
}

/** Changes a declaration; parts that are undefined are removed. */
export function setParameter(
  document: TopologyDocument,
  name: string,
  change: { readonly [Key in keyof TopologyParameter]?: TopologyParameter[Key] | undefined },
): TopologyDocument {
  const parts = { ...document.parameters?.[name], ...change };
  const kept = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
  return {
    ...document,
    parameters: { ...document.parameters, [name]: kept as unknown as TopologyParameter },
  };
}

/** Sets the value in an environment; undefined: the default holds there. */
export function setValue(
  document: TopologyDocument,
  name: string,
  environment: Environment,
  value: Json | undefined,
): TopologyDocument {
  const { [environment]: _old, ...others } = document.parameters?.[name]?.values ?? {};
  const values = value === undefined ? others : { ...others, [environment]: value };
  return setParameter(document, name, {
    values: Object.keys(values).length === 0 ? undefined : values,
  });
}

/** Renames a parameter, also where it is used. A name that another one has is not taken. */
export function renameParameter(
  document: TopologyDocument,
  from: string,
  to: string,
): TopologyDocument {
  if (to === from || to === "" || document.parameters?.[to] !== undefined) return document;
  const parameters = Object.fromEntries(
    parametersOf(document).map(([name, each]) => [name === from ? to : name, each]),
  );
  const renamed = mappedDocument(document, (text) => text.replaceAll(placeOf(from), placeOf(to)));
  return { ...renamed, parameters };
}

/** Removes a declaration; the last one leaves nothing behind. */
export function removeParameter(document: TopologyDocument, name: string): TopologyDocument {
  const { [name]: _old, ...parameters } = document.parameters ?? {};
  if (Object.keys(parameters).length > 0) return { ...document, parameters };
  const { parameters: _all, ...others } = document;
  return others;
}

/** A typed text as a value of a type; text that is none is kept, and the compiler reports it. */
export function typedValue(type: string, text: string): Json {
  const trimmed = text.trim();
  if (type === "number") {
    return /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
  }
  if (type === "boolean") return trimmed === "true" ? true : trimmed === "false" ? false : text;
  if (type === "duration" && /^\d+$/.test(trimmed)) return Number(trimmed);
  return text;
}
