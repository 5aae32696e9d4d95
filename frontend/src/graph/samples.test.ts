import { expect, test } from "vitest";
import { readSamples, schemaOf } from "./samples";

const schema = (text: string) => schemaOf(readSamples(text).values);

test("a record becomes columns; fields that only some records have are included", () => {
  const lines = `{"item": "a", "quantity": 1, "at": 1700000000000}
{"item": "b", "price": 2.5, "gift": true, "quantity": null}`;
  expect(schema(lines)).toEqual({
    schema: "item STRING, quantity BIGINT, at BIGINT, price DOUBLE, gift BOOLEAN",
    conflicts: [],
    samples: 2,
  });
});

test("nested structs, lists, whole and broken numbers, odd names and nulls have types", () => {
  const record = {
    lines: [
      { sku: "x", n: 1 },
      { sku: "y", n: 1.5 },
    ],
    "ship-to": { zip: "1", more: {} },
    tags: [],
    nothing: null,
    big: 1e300,
  };
  expect(schema(JSON.stringify([record])).schema).toBe(
    "lines ARRAY<STRUCT<sku: STRING, n: DOUBLE>>, " +
      "`ship-to` STRUCT<zip: STRING, more: MAP<STRING, STRING>>, tags ARRAY<STRING>, " +
      "nothing STRING, big DOUBLE",
  );
});

test("a value that is no struct has one type", () => {
  expect(schema("3").schema).toBe("BIGINT");
  expect(schema("[1, 2]").schema).toBe("ARRAY<BIGINT>");
  expect(schema("null").schema).toBe("");
  expect(schema(" ")).toEqual({ schema: "", conflicts: [], samples: 0 });
});

test("types that do not fit together are named by their path", () => {
  const found = schema('{"a": {"b": 1}, "c": "x"}\n{"a": {"b": "one"}, "c": [1]}');
  expect(found.conflicts).toEqual(["a.b", "c"]);
  expect(found.schema).toBe("a STRUCT<b: BIGINT>, c STRING");
});

test("a text that is no JSON is refused with the line", () => {
  expect(readSamples("{oops").error).toMatch(/JSON|property/);
  expect(readSamples('{"a": 1}\n{"a": 2').error).toMatch(/^2: /);
});
