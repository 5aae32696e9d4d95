import { act } from "react";
import { beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import type { RawRecord } from "../api/types";
import { choose, field, render, type, until } from "../testing/rendering";
import { ProduceDialog } from "./ProduceDialog";
import { type PartFormat, questionOf } from "./records";

const produce = vi.hoisted(() => vi.fn());
vi.mock("../api/topicCalls", () => ({
  produceRecord: (_ws: string, _topic: string, record: unknown) => produce(record),
}));
beforeEach(() => {
  produce.mockReset();
});

const AVRO: PartFormat = {
  format: "avro",
  registry: "http://schemas.example:8081",
  subject: "orders-value",
};
const JSON_TEXT = '{"item": "tea"}';

function show(
  value: PartFormat = { format: "auto" },
  onWritten: () => void = () => undefined,
  again: RawRecord | null = null,
) {
  const formats = { ...questionOf({}), value };
  return render(
    <ProduceDialog
      {...{ ws: "main", topic: "orders", partitions: 1, again, formats, onWritten }}
      onClose={() => undefined}
    />,
  );
}

const write = () => document.querySelector<HTMLButtonElement>("[data-testid=write-record]");
const refusal = (status: number, error: object) => new ApiError(status, { error } as never);

test("Avro and Protobuf are written by a schema that is typed or in a registry", async () => {
  produce.mockResolvedValue({ partition: 0, offset: 4 });
  const close = await show();
  await choose("Format of the value", "Avro");
  await type(field("Value"), JSON_TEXT);
  // Without a schema, the record cannot be serialized.
  expect(write()?.disabled).toBe(true);
  await type(field("Schema registry"), "http://schemas.example:8081");
  expect(write()?.disabled).toBe(true);
  await type(field("Subject"), "orders-value");
  await act(async () => write()?.click());
  expect(produce.mock.calls[0]?.[0].value).toEqual({ ...AVRO, text: JSON_TEXT });

  await choose("Format of the value", "Protobuf");
  expect(field("Subject").value).toBe("");
  await type(field("Schema of the value"), "message Order { string item = 1; }");
  await act(async () => write()?.click());
  expect(produce.mock.calls[1]?.[0].value).toEqual({
    format: "protobuf",
    schema: "message Order { string item = 1; }",
    text: JSON_TEXT,
  });
  await close();
});

test("a new record begins in the schema in which records are read", async () => {
  produce.mockResolvedValue({ partition: 0, offset: 4 });
  const close = await show(AVRO);
  expect(field("Subject").value).toBe("orders-value");
  await type(field("Value"), "{no JSON");
  await act(async () => write()?.click());
  expect(document.body.textContent).toContain("Not valid JSON");
  expect(produce).not.toHaveBeenCalled();
  await type(field("Value"), JSON_TEXT);
  await act(async () => write()?.click());
  expect(produce.mock.calls[0]?.[0].value).toEqual({ ...AVRO, text: JSON_TEXT });
  await close();
});

test("a record is produced again in its schema; what is not changed, byte for byte", async () => {
  produce.mockResolvedValue({ partition: 0, offset: 4 });
  const part = (format: string, text: string) => ({
    ...{ format, text, size: 3, cut: false, error: null, schema_id: null },
  });
  const again: RawRecord = {
    ...{ partition: 0, offset: 3, timestamp: 1_000, log_append_time: false, size: 6, headers: [] },
    ...{ key: part("string", "a\r\n"), raw_key: btoa("a\r\n") },
    ...{ value: part("avro", JSON_TEXT), raw_value: btoa("\x06tea") },
  };
  const close = await show(AVRO, () => undefined, again);
  expect(field("Subject").value).toBe("orders-value");
  expect(JSON.parse(field("Value").value)).toEqual({ item: "tea" });
  await act(async () => write()?.click());
  const key = { format: "bytes", text: "610d0a" };
  expect(produce.mock.calls[0]?.[0]).toMatchObject({
    ...{ key, value: { format: "bytes", text: "06746561" }, partition: 0, timestamp: 1_000 },
  });
  await type(field("Value"), '{"item": "rice"}');
  await act(async () => write()?.click());
  expect(produce.mock.calls[1]?.[0]).toMatchObject({
    ...{ key, value: { ...AVRO, text: '{"item": "rice"}' } },
  });
  await close();
});

test("what does not fit is said at the value, what is wrong with the schema below", async () => {
  const fields = { value: ["The schema has no field itme."] };
  produce.mockRejectedValueOnce(refusal(400, { code: "value_unfit", message: "Unfit.", fields }));
  const close = await show(AVRO);
  await type(field("Value"), JSON_TEXT);
  await act(async () => write()?.click());
  const about = (field("Value").getAttribute("aria-describedby") ?? "").split(" ");
  expect(about.map((id) => document.getElementById(id)?.textContent)).toEqual(
    expect.arrayContaining(["The schema has no field itme."]),
  );
  const registry = {
    code: "registry",
    message: "It does not know this subject.",
    hint: "Correct it.",
  };
  produce.mockRejectedValueOnce(
    refusal(400, { ...registry, facts: {}, fields: { value: ["It…"] } }),
  );
  await act(async () => write()?.click());
  expect(document.body.textContent).toContain("It does not know this subject. Correct it.");
  expect(document.body.textContent).not.toContain("It…");
  await close();
});

test("a simulator that starts is waited for, and no longer than the dialog is open", async () => {
  const starting = refusal(503, { code: "simulator_starting", message: "Starting." });
  produce.mockRejectedValueOnce(starting).mockResolvedValueOnce({ partition: 0, offset: 4 });
  const written = vi.fn();
  const close = await show(AVRO, written);
  await type(field("Value"), JSON_TEXT);
  await act(async () => write()?.click());
  expect(document.body.textContent).toContain("The simulator is starting.");
  await vi.waitFor(() => until(() => expect(written).toHaveBeenCalled()), 20_000);
  expect(produce).toHaveBeenCalledTimes(2);
  produce.mockRejectedValue(starting);
  await act(async () => write()?.click());
  await close();
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(produce).toHaveBeenCalledTimes(3);
}, 30_000);
