import { expect, test } from "vitest";
import { sourcesOf } from "../simulate/scenario";
import type { TopologyDocument } from "./document";
import {
  addParameter,
  inEnvironment,
  parametersOf,
  removeParameter,
  renameParameter,
  setParameter,
  setValue,
  typedValue,
  usesOf,
  withDefaults,
} from "./parameters";

const document: TopologyDocument = {
  format: "millrace.topology/1",
  name: "orders",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
  settings: { dead_letter_topic: "${orders}-dead" },
  topics: { "${orders}": { partitions: 3 } },
  parameters: {
    orders: { type: "topic", default: "orders", values: { prod: "orders-2" } },
    low: { type: "number", default: 10 },
  },
  nodes: [
    {
      id: "in",
      kind: "source.stream",
      params: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
        topics: ["${orders}"],
        key: { format: "string" },
        value: { format: "string" },
      },
    },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
    { id: "large", kind: "filter", params: { predicate: "value > ${low} + ${low}" } },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
    { id: "code", kind: "process", params: { code: "${low}" } },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
    { id: "called", kind: "reduce", params: { functions: "${low}" } },
  ],
  edges: [],
};

test("an environment's values become the defaults, those of others stay", () => {
  const { parameters } = inEnvironment(document, "prod");
  expect(parameters?.orders).toMatchObject({ default: "orders-2" });
  expect(parameters?.low).toMatchObject({ default: 10 });
  expect(inEnvironment(document, null)).toBe(document);
});

const paramsAt = (made: TopologyDocument, id: string) =>
  made.nodes.find((node) => node.id === id)?.params;

test("defaults stand in texts, and records of a simulation are for the topic behind a parameter", () => {
  const made = withDefaults(document);
  expect(made.settings).toEqual({ dead_letter_topic: "orders-dead" });
  expect(made.topics).toEqual({ orders: { partitions: 3 } });
  expect(paramsAt(made, "large")).toEqual({ predicate: "value > 10 + 10" });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Python code is left as it is
  expect(paramsAt(made, "code")).toEqual({ code: "${low}" });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Python code is left as it is
  expect(paramsAt(made, "called")).toEqual({ functions: "${low}" });
  expect(sourcesOf(document).map((each) => each.topic)).toEqual(["orders"]);
  const { parameters: _none, ...without } = document;
  expect(withDefaults(without)).toBe(without);
});

test("a parameter is renamed where it is used, and not to a name that is taken", () => {
  const made = renameParameter(document, "low", "minimum");
  expect(parametersOf(made).map(([name]) => name)).toEqual(["orders", "minimum"]);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
  expect(paramsAt(made, "large")).toEqual({ predicate: "value > ${minimum} + ${minimum}" });
  expect(renameParameter(document, "low", "orders")).toBe(document);
  expect([usesOf(document, "low"), usesOf(document, "orders")]).toEqual([2, 3]);
});

test("values are set, left out and removed", () => {
  let made = setValue(document, "low", "dev", 1);
  expect(made.parameters?.low).toEqual({ type: "number", default: 10, values: { dev: 1 } });
  made = setValue(made, "low", "dev", undefined);
  expect(made.parameters?.low).toEqual({ type: "number", default: 10 });
  made = setParameter(made, "low", { description: "Smallest", default: 2 });
  expect(made.parameters?.low).toEqual({ type: "number", default: 2, description: "Smallest" });
  made = addParameter(addParameter(made));
  expect(
    parametersOf(made)
      .map(([name]) => name)
      .slice(2),
  ).toEqual(["parameter", "parameter_2"]);
  for (const [name] of parametersOf(made)) made = removeParameter(made, name);
  expect("parameters" in made).toBe(false);
});

test("typed text becomes a value of the type, and text that is none is kept", () => {
  expect(typedValue("number", " 1.5")).toBe(1.5);
  expect(typedValue("number", "1.")).toBe("1.");
  expect(typedValue("boolean", "true")).toBe(true);
  expect(typedValue("duration", "60000")).toBe(60_000);
  expect(typedValue("duration", "1 hour")).toBe("1 hour");
  expect(typedValue("text", "60000")).toBe("60000");
});
