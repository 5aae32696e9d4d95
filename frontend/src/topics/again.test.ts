import { expect, test } from "vitest";
import type { RawRecord, RecordPart } from "../api/types";
import { headersOf, partOf } from "./ProduceDialog";

function part(format: string, text: string | null, more: Partial<RecordPart> = {}): RecordPart {
  return { format, text, size: 2, cut: false, error: null, schema_id: null, ...more };
}

const AVRO = { format: "avro", registry: "http://schemas.example:8081", subject: "o" } as const;
const AUTO = { format: "auto" } as const;

test("a part is written again as its text, in the schema in which it was read", () => {
  expect(partOf(part("null", null), null, AUTO)).toEqual({ format: "null", text: "" });
  expect(partOf(part("long", "7"), btoa("\0\0\0\0\0\0\0\x07"), AUTO)).toEqual({
    format: "long",
    text: "7",
  });
  expect(partOf(part("avro", '{"n":1}'), btoa("\x02"), AVRO)).toEqual({
    ...AVRO,
    text: '{\n  "n": 1\n}',
  });
  // A node reads only the fields in its schema; the others are kept.
  expect(partOf(part("json", '{"n":1}'), btoa('{"n":1,"more":2}'), AUTO)).toEqual({
    format: "json",
    text: '{"n":1,"more":2}',
  });
});

test("as its bytes where it could not be read, or is not whole, or the schema is not known", () => {
  const bytes = { format: "bytes", text: "02ff" };
  const failed = part("bytes", "02ff", { error: "Not of the format." });
  expect(partOf(failed, btoa("\x02\xff"), AVRO)).toEqual(bytes);
  expect(partOf(part("avro", '{"n":1}'), btoa("\x02\xff"), AUTO)).toEqual(bytes);
  expect(partOf(part("avro", '{"n":', { cut: true }), btoa("\x02\xff"), AVRO)).toEqual(bytes);
  const windowed = part("time_windowed", '{"key":"a","window":{"start":5}}');
  expect(partOf(windowed, btoa("\x02\xff"), AUTO)).toEqual(bytes);
  expect(partOf(part("json", '{"n":', { cut: true }), btoa("{}"), AUTO)).toEqual({
    format: "bytes",
    text: "7b7d",
  });
});

test("headers that are not one line of text are left out by name", () => {
  const headers = [
    { ...part("string", "t1"), key: "trace" },
    { ...part("bytes", "ff00"), key: "raw" },
    { ...part("null", null), key: "none" },
  ];
  expect(headersOf({ headers } as unknown as RawRecord)).toEqual({
    text: "trace: t1",
    others: ["raw", "none"],
  });
});
