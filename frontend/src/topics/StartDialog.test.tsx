import { act } from "react";
import { expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import { choose, field, render, type, until } from "../testing/rendering";
import { StartDialog } from "./StartDialog";

const VALUE = {
  format: "protobuf",
  registry: "http://schemas.example:8081",
  subject: "orders-value",
};
const calls = vi.hoisted(() => ({ formatTypes: vi.fn(), startGenerator: vi.fn() }));
vi.mock("../api/topicCalls", () => ({
  ...calls,
  topicUses: async () => ({
    uses: [
      {
        ...{ topology: 1, deployment: null, name: "Orders", node: "in", reads: true },
        ...{ key: { format: "string" }, value: VALUE, time_field: null },
      },
    ],
  }),
}));

const start = () => document.querySelector<HTMLButtonElement>("[data-testid=start-generator]");

test("a topology's schema gives the fields of a generator", async () => {
  calls.formatTypes.mockResolvedValue({ key: "STRING", value: "STRUCT<item: STRING>" });
  calls.startGenerator.mockResolvedValue({});
  const close = await render(<StartDialog ws="main" topic="orders" onClose={() => undefined} />);
  await until(() => expect(field("value.item")).not.toBeNull());
  await type(field("value.item"), "tea, rice");
  await act(async () => start()?.click());
  expect(calls.startGenerator.mock.calls[0]?.[1]).toMatchObject({
    topic: "orders",
    recipe: { value: VALUE, fields: { "value.item": { values: ["tea", "rice"] } } },
  });
  await close();
});

test("a schema of one's own is typed, and its fields are those of the generator", async () => {
  calls.formatTypes.mockReset().mockResolvedValue({ key: "STRING", value: "STRUCT<n: INT>" });
  calls.startGenerator.mockReset().mockResolvedValue({});
  const close = await render(<StartDialog ws="main" topic="orders" onClose={() => undefined} />);
  await until(() => expect(field("Records as read by").value).toContain("Orders"));
  await until(() => expect(calls.formatTypes).toHaveBeenCalled());
  await choose("Records as read by", "Custom formats");
  calls.formatTypes.mockClear();
  await choose("Value", "Avro");
  expect(start()?.disabled).toBe(true);
  await type(field("Schema of the value"), '"int');
  await type(field("Schema of the value"), '"int"');
  const value = { format: "avro", schema: '"int"' };
  await until(() => expect(field("value.n")).not.toBeNull());
  // One request, not one per key press.
  const text = { format: "string" };
  expect(calls.formatTypes.mock.calls.map(([, formats]) => formats)).toEqual([
    { key: text, value },
  ]);
  await act(async () => start()?.click());
  expect(calls.startGenerator.mock.calls[0]?.[1].recipe).toMatchObject({ key: text, value });
  await close();
});

test("a schema that cannot be had is reported before anything is started", async () => {
  const error = { code: "invalid", message: "The registry does not answer.", hint: "Start it." };
  calls.formatTypes.mockRejectedValue(new ApiError(400, { error } as never));
  const close = await render(<StartDialog ws="main" topic="orders" onClose={() => undefined} />);
  await until(() => expect(document.body.textContent).toContain("Start it."));
  expect(start()?.disabled).toBe(true);
  await close();
});
