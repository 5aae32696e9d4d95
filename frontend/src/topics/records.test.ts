import { expect, test } from "vitest";
import type { RecordPart, TopicRecord, TopicUse } from "../api/types";
import { recordAddress } from "../frame/addresses";
import {
  addressOf,
  formatsOf,
  hexDump,
  jsonLine,
  pretty,
  queryOf,
  questionOf,
  readIn,
} from "./records";

const part = (format: string, text: string | null): RecordPart => ({
  format,
  text,
  size: text?.length ?? 0,
  cut: false,
  error: null,
  schema_id: null,
});

function record(key: RecordPart, value: RecordPart): TopicRecord {
  return {
    partition: 2,
    offset: 17,
    timestamp: 1000,
    log_append_time: false,
    size: 3,
    key,
    value,
    headers: [{ ...part("string", "t1"), key: "trace" }],
  };
}

test("a question survives its address, and defaults leave no trace there", () => {
  expect(addressOf(questionOf({}))).toEqual({ search: "", hash: "" });
  const text =
    "start=offset&partition=2&offset=40&value=long&field=value.id&equals=7&compare=less&reader=3%3Ain&where=value.n+%3E+3";
  const question = questionOf({ search: `?${text}` });
  expect(addressOf(question)).toEqual({ search: text, hash: "" });
  expect(queryOf(question, "2:41")).toEqual({
    start: "offset",
    partition: 2,
    offset: 40,
    field: "value.id",
    equals: "7",
    compare: "less",
    reader: "3:in",
    where: "value.n > 3",
    cursor: "2:41",
  });
  expect(questionOf({ search: "start=never&partition=-1&value=x" })).toEqual(questionOf({}));
});

test("the schema of a format is part of a question, and a node's formats take its place", () => {
  // The hash is not sent to the server, so a schema may be long.
  const address = {
    search: "key=protobuf&value=avro&value_registry=http%3A%2F%2Fr&value_subject=o",
    hash: "key=message+A+%7B%7D",
  };
  const question = questionOf({ ...address, hash: `#${address.hash}` });
  expect(question.key).toEqual({ format: "protobuf", schema: "message A {}" });
  expect(addressOf(question)).toEqual(address);
  expect(queryOf(question, null)).toMatchObject({
    ...{ key_format: "protobuf", key_schema: "message A {}" },
    ...{ value_format: "avro", value_registry: "http://r", value_subject: "o" },
  });
  expect(formatsOf({ ...question, reader: "3:in" })).toEqual({ reader: "3:in" });
  // Text has no schema, even if the address contains one.
  expect(questionOf({ search: "key=string", hash: "#key=x" }).key).toEqual({ format: "string" });
});

test("records that a node reads have its formats", () => {
  const value = { format: "avro", registry: "http://r", subject: "o", schema: null };
  const use = { topology: 3, node: "in", key: { format: "json", schema: "a INT" }, value };
  const chosen = questionOf({ search: "value=long" });
  const uses = [use as unknown as TopicUse];
  expect(readIn(chosen, uses)).toMatchObject({
    key: { format: "auto" },
    value: { format: "long" },
  });
  expect(readIn({ ...chosen, reader: "3:in" }, uses)).toEqual({
    key: { format: "json" },
    value: { format: "avro", registry: "http://r", subject: "o" },
  });
  expect(readIn({ ...chosen, reader: "4:in" }, uses).value).toEqual({ format: "auto" });
});

test("an address names one record", () => {
  expect(recordAddress("main", "a.b", 1, 5)).toBe(
    "/w/main/topics/a.b?start=offset&partition=1&offset=5&record=1:5",
  );
});

test("a record is one line of JSON with values of its formats", () => {
  expect(
    JSON.parse(jsonLine("orders", record(part("long", "42"), part("json", '{"a":[1]}')))),
  ).toEqual({
    topic: "orders",
    partition: 2,
    offset: 17,
    timestamp: 1000,
    key: 42,
    value: { a: [1] },
    headers: { trace: "t1" },
  });
  const large = jsonLine("t", record(part("null", null), part("long", "9007199254740993")));
  expect(JSON.parse(large)).toMatchObject({ key: null, value: "9007199254740993" });
});

test("JSON is indented unless that would change a number", () => {
  expect(pretty(part("json", '{"a":1}'))).toBe('{\n  "a": 1\n}');
  expect(pretty(part("json", '{"a":9007199254740993}'))).toBe('{"a":9007199254740993}');
  expect(pretty(part("string", "{"))).toBe("{");
  expect(pretty(part("null", null))).toBe("null");
});

test("bytes are shown in lines of sixteen", () => {
  expect(hexDump(btoa("0123456789abcdef\u0000z"))).toBe(
    `000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n000010  00 7a${" ".repeat(42)}  .z`,
  );
});
