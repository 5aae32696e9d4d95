import { act } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import { useDesigner } from "../designer/store";
import { ruleOf } from "../generate/recipe";
import { field, render, type, until } from "../testing/rendering";
import { GenerateDialog, PasteDialog } from "./Adding";
import { useSimulation } from "./store";

const text = { format: "string" };
const DOCUMENT = {
  format: "millrace.topology/1" as const,
  name: "test",
  nodes: [{ id: "in", kind: "source.stream", params: { topics: ["in"], key: text, value: text } }],
  edges: [],
};

afterEach(() => useSimulation.setState({ rows: [] }));

const asked = vi.fn();
const typesOf = vi.fn();
vi.mock("../api/topicCalls", () => ({
  formatTypes: async (_ws: string, formats: unknown) => typesOf(formats),
  generateRecords: async (_ws: string, request: unknown) => {
    asked(request);
    return { lines: [{ topic: "in", key: "a", value: "b", timestamp: 5 }] };
  },
}));

test("records are asked for as the form says, and no text that is no duration is taken", async () => {
  useDesigner.setState({ document: DOCUMENT as never });
  const close = await render(<GenerateDialog ws="main" onClose={() => undefined} />);
  const add = () =>
    [...document.querySelectorAll("button")].find((each) => each.textContent === "Add records");
  await type(field("One every"), "soon");
  expect(add()?.disabled).toBe(true);
  expect(document.body.textContent).toContain("A duration such as 5 minutes");
  await type(field("One every"), "1 h");
  await type(field("Key skew (Zipf)"), "1.5");
  await type(field("Records"), "30");
  await type(field("value"), "tea, 7");
  await type(field("key"), "order-1..5");
  await act(async () => add()?.click());
  expect(asked.mock.calls[0]?.[0]).toMatchObject({
    topic: "in",
    count: 30,
    every: 3_600_000,
    recipe: {
      key: text,
      skew: 1.5,
      fields: { key: { prefix: "order-", min: 1, max: 5 }, value: { values: ["tea", 7] } },
    },
  });
  expect(useSimulation.getState().rows.map((row) => row.value)).toEqual(["b"]);
  await close();
});

const registered = {
  format: "avro",
  registry: "http://schemas.example:8081",
  subject: "orders-value",
};
const AVRO = {
  ...DOCUMENT,
  nodes: [
    {
      id: "in",
      kind: "source.stream",
      params: { topics: ["orders"], key: text, value: registered },
    },
  ],
};

test("the fields of a schema are those of its type, which the server knows", async () => {
  asked.mockClear();
  typesOf.mockResolvedValue({ key: "STRING", value: "STRUCT<item: STRING, n: INT>" });
  useDesigner.setState({ document: AVRO as never });
  const close = await render(<GenerateDialog ws="main" onClose={() => undefined} />);
  await until(() => expect(field("value.item")).not.toBeNull());
  expect(typesOf).toHaveBeenCalledWith({ key: text, value: registered });
  await type(field("value.n"), "1..5");
  await act(async () =>
    [...document.querySelectorAll("button")]
      .find((each) => each.textContent === "Add records")
      ?.click(),
  );
  expect(asked.mock.calls[0]?.[0]).toMatchObject({
    recipe: { value: registered, fields: { "value.n": { min: 1, max: 5 } } },
  });
  await close();
});

test("a registry that cannot be read is reported, and nothing can be generated", async () => {
  const error = { code: "invalid", message: "The registry does not answer.", hint: "Start it." };
  typesOf.mockRejectedValue(new ApiError(400, { error } as never));
  useDesigner.setState({ document: AVRO as never });
  const close = await render(<GenerateDialog ws="main" onClose={() => undefined} />);
  await until(() =>
    expect(document.body.textContent).toContain("The registry does not answer. Start it."),
  );
  const add = [...document.querySelectorAll("button")].find(
    (each) => each.textContent === "Add records",
  );
  expect(add?.disabled).toBe(true);
  await close();
});

test("the text of a field becomes its rule", () => {
  expect(ruleOf(" ")).toBeNull();
  expect(ruleOf("-3..2.5")).toEqual({ min: -3, max: 2.5 });
  expect(ruleOf("customer-1..50")).toEqual({ prefix: "customer-", min: 1, max: 50 });
  expect(ruleOf("order-#")).toEqual({ prefix: "order-" });
  expect(ruleOf("true, null, x")).toEqual({ values: [true, null, "x"] });
});

test("a file's lines are shown before they become records", async () => {
  useDesigner.setState({ document: DOCUMENT as never });
  const close = await render(<PasteDialog onClose={() => undefined} />);
  const input = document.querySelector<HTMLInputElement>("input[type=file]");
  const lines = '{"topic": "in", "value": "from a file", "timestamp": 1}';
  Object.defineProperty(input, "files", { value: [new File([lines], "in.jsonl")] });
  await act(async () => input?.dispatchEvent(new Event("change", { bubbles: true })));
  await until(() => expect(document.querySelector("textarea")?.value).toBe(lines));
  const add = [...document.querySelectorAll("button")].find(
    (each) => each.textContent === "Add records",
  );
  await act(async () => add?.click());
  await until(() =>
    expect(useSimulation.getState().rows.map((row) => row.value)).toEqual(["from a file"]),
  );
  await close();
});
