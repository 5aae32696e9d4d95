import { expect, test } from "vitest";
import type { RawRecord, RecordPart } from "../api/types";
import { headersOf, partOf } from "./ProduceDialog";

function part(format: string, text: string | null, more: Partial<RecordPart> = {}): RecordPart {
  return { format, text, size: 2, cut: false, error: null, schema_id: null, ...more };
}

test("a part is written again as its text, and as its bytes where that would not give the same", () => {
  expect(partOf(part("null", null), null)).toEqual({ format: "null", text: "" });
  expect(partOf(part("long", "7"), btoa("\0\0\0\0\0\0\0\x07"))).toEqual({
    format: "long",
    text: "7",
  });
  expect(partOf(part("avro", '{"n":1}'), btoa("\x02\xff"))).toEqual({
    format: "bytes",
    text: "02ff",
  });
  expect(partOf(part("json", '{"n":', { cut: true }), btoa("{}"))).toEqual({
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
