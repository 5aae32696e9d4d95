import { act } from "react";
import { MemoryRouter } from "react-router";
import { beforeEach, expect, test, vi } from "vitest";
import type { Generator, Recipe } from "../api/types";
import { formOf, recipeOf } from "../generate/recipe";
import { field, render, until } from "../testing/rendering";
import { GeneratorsList } from "./GeneratorsList";

const calls = vi.hoisted(() => ({
  listGenerators: vi.fn(),
  stopGenerator: vi.fn(),
  startGeneratorAgain: vi.fn(),
  changeGenerator: vi.fn(),
  deleteGenerator: vi.fn(),
}));
vi.mock("../api/topicCalls", () => ({
  ...calls,
  topicUses: async () => ({ uses: [] }),
  formatTypes: async () => ({ key: "STRING", value: "STRUCT<item: STRING>" }),
}));

const RECIPE: Recipe = {
  key: { format: "string" },
  value: { format: "json", schema: "item STRING, n INT, text STRING, id STRING" },
  time_field: null,
  ...{ keys: 7, skew: 1.5, late: 10, late_by: 60_000, nulls: 1, malformed: 2, seed: 3 },
  fields: {
    "value.item": { values: ["tea", "rice"] },
    "value.n": { min: 1, max: 5 },
    "value.text": { parts: [["a"], ["b", "c"]] },
    "value.id": { prefix: "customer-", min: 1, max: 50 },
    key: { prefix: "order-" },
  },
};

const STOPPED = {
  id: 4,
  topic: "orders",
  recipe: RECIPE,
  rate: 20,
  most: null,
  seconds: 600,
  state: "stopped",
  written: 12,
  problem: null,
  ended_at: "2026-01-01T00:00:00Z",
  ends_at: null,
  created_by: "Ada",
  created_at: "2026-01-01T00:00:00Z",
  topology: null,
} as unknown as Generator;

const click = (name: string) =>
  act(async () =>
    document.querySelector<HTMLElement>(`[data-testid="${name}"], [aria-label="${name}"]`)?.click(),
  );

beforeEach(() => {
  for (const call of Object.values(calls)) call.mockReset().mockResolvedValue({});
  calls.listGenerators.mockResolvedValue({ count: 1, results: [STOPPED] });
});

const open = async (operator = true) => {
  const close = await render(
    <MemoryRouter>
      <GeneratorsList ws="main" operator={operator} />
    </MemoryRouter>,
  );
  await until(() => expect(document.body.textContent).toContain("Stopped"));
  return close;
};

test("a stopped generator stays in the list and can be started again", async () => {
  const close = await open();
  await click("start-again");
  expect(calls.startGeneratorAgain).toHaveBeenCalledWith(4);
  await close();
});

test("editing a generator keeps each setting that is not changed", async () => {
  const close = await open();
  await click("Edit the generator");
  await until(() => expect(field("value.item").value).toBe("tea, rice"));
  expect(field("Records per second").value).toBe("20");
  await click("save-generator");
  const settings = { recipe: RECIPE, rate: 20, seconds: 600, most: null };
  expect(calls.changeGenerator).toHaveBeenCalledWith(4, settings);
  expect(calls.startGeneratorAgain).not.toHaveBeenCalled();
  await close();
});

test("a generator is deleted only after a question", async () => {
  const close = await open();
  await click("Delete the generator");
  await until(() => expect(document.body.textContent).toContain("Its records stay in the topic."));
  expect(calls.deleteGenerator).not.toHaveBeenCalled();
  await click("delete-generator");
  expect(calls.deleteGenerator).toHaveBeenCalledWith(4);
  await close();
});

test("the generators of a workspace are searched and paged", async () => {
  calls.listGenerators.mockResolvedValue({ count: 25, results: [STOPPED] });
  const close = await open();
  const last = calls.listGenerators.mock.lastCall;
  expect(last).toEqual(["main", { search: "", page: 1, page_size: 10 }]);
  expect(document.querySelector("[aria-label='Search generators']")).not.toBeNull();
  await click("Next page");
  expect(calls.listGenerators.mock.lastCall).toEqual([
    "main",
    { search: "", page: 2, page_size: 10 },
  ]);
  await close();
});

test("who is no operator sees generators without buttons", async () => {
  const close = await open(false);
  expect(document.querySelector("[data-testid=start-again]")).toBeNull();
  await close();
});

test("a text for a rule that text cannot express replaces it", () => {
  const { shape, target } = formOf("orders", RECIPE);
  const changed = { ...shape, rules: { ...shape.rules, "value.text": "x" } };
  expect(recipeOf(target, changed).fields?.["value.text"]).toEqual({ values: ["x"] });
});
