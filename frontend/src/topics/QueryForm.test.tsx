import { act } from "react";
import { expect, test, vi } from "vitest";
import { choose, field, render, type } from "../testing/rendering";
import { QueryForm } from "./QueryForm";
import { questionOf } from "./records";

const show = (onAsk: (question: unknown) => void, address = "") =>
  render(
    <QueryForm
      question={questionOf({ search: address })}
      partitions={1}
      uses={[]}
      onAsk={onAsk}
      right={null}
    />,
  );

test("a format is read at once, one with a schema when the schema is there", async () => {
  const ask = vi.fn();
  const close = await show(ask);
  await choose("Key as", "Long");
  expect(ask.mock.calls[0]?.[0].key).toEqual({ format: "long" });
  ask.mockClear();
  await choose("Value as", "Protobuf");
  expect(ask).not.toHaveBeenCalled();
  await choose("Key as", "Session window");
  expect(ask.mock.calls[0]?.[0].key).toEqual({ format: "session_windowed" });
  ask.mockClear();
  await type(field("Schema of the value"), "message A {}");
  await act(async () => document.querySelector<HTMLElement>("[data-testid=filter]")?.click());
  expect(ask.mock.calls[0]?.[0].value).toEqual({ format: "protobuf", schema: "message A {}" });
  await close();
});

test("the schema of a question is shown, and that of a node takes its place", async () => {
  const address = "value=avro&value_registry=http%3A%2F%2Fr&value_subject=orders";
  const close = await show(() => undefined, address);
  expect([field("Schema registry").value, field("Subject").value]).toEqual(["http://r", "orders"]);
  await close();
  const other = await show(() => undefined, `${address}&reader=3%3Ain`);
  expect(document.body.textContent).not.toContain("Subject");
  await other();
});
