import { expect, test } from "vitest";
import { readSchema, readStruct } from "./structs";

const TOTAL =
  "named_struct('item', value.item, 'total', sum(value.price * 2), 'at', struct(1 AS a))";

const rows = (text: string) => readStruct(text)?.rows.map(({ name, text: each }) => [name, each]);
const fields = (text: string) => readSchema(text)?.rows.map(({ name, text: each }) => [name, each]);

test("a call of named_struct or struct at the top of an expression is rows", () => {
  expect(rows(TOTAL)).toEqual([
    ["item", "value.item"],
    ["total", "sum(value.price * 2)"],
    ["at", "struct(1 AS a)"],
  ]);
  expect(rows("STRUCT (value.item, n + 1 AS `a b`, upper(x))")).toEqual([
    ["item", "value.item"],
    ["a b", "n + 1"],
    [null, "upper(x)"],
  ]);
  expect(rows("named_struct()")).toEqual([]);
  expect(rows(`named_struct('it\\'s, here', "a, 'b", 'y''z', \`c,d\`)`)).toEqual([
    ["it's, here", `"a, 'b"`],
    ["y'z", "`c,d`"],
  ]);
});

test("any other expression, and an unfinished one, is no rows", () => {
  for (const text of [
    "",
    "value.item",
    "named_struct('a', 1).a",
    "named_struct('a', 1) = value",
    "named_struct('a', 1",
    "named_struct('a')",
    "named_struct('a', 1,)",
    "named_struct('a', (1)",
    "named_struct('a, 1)",
    "named_struct('a', 1 -- why\n)",
    "my_struct('a', 1)",
  ])
    expect(rows(text), text).toBeUndefined();
});

test("a change of one row keeps every other character", () => {
  const text = "named_struct(\n  'a',  value.a ,\n  'b', f( x,y )\n)";
  const read = readStruct(text);
  expect(read?.rename(1, "c").text).toBe("named_struct(\n  'a',  value.a ,\n  'c', f( x,y )\n)");
  expect(read?.rewrite(0, "1").text).toBe("named_struct(\n  'a',  1 ,\n  'b', f( x,y )\n)");
  expect(read?.move(0, 1).text).toBe("named_struct(\n  'b',  f( x,y ) ,\n  'a', value.a\n)");
  expect(read?.remove(1).text).toBe("named_struct(\n  'a',  value.a\n)");
  expect(read?.remove(0).text).toBe("named_struct(\n  'b',  f( x,y )\n)");
  expect(read?.add("c", "NULL").text).toBe(
    "named_struct(\n  'a',  value.a ,\n  'b', f( x,y ),\n  'c', NULL\n)",
  );
  expect(readStruct("named_struct()")?.add("it's", "1").text).toBe("named_struct('it\\'s', 1)");
  expect(read?.starts.map((start) => text.slice(start, start + 3))).toEqual(["val", "f( "]);
});

test("names of struct are aliases, which are written where Spark would give another name", () => {
  const read = readStruct("struct(value.item, n as total)");
  expect(read?.rename(0, "thing").text).toBe("struct(value.item AS thing, n as total)");
  expect(read?.rewrite(0, "value.price").text).toBe("struct(value.price AS item, n as total)");
  expect(read?.rewrite(1, "n + 1").text).toBe("struct(value.item, n + 1 as total)");
  expect(read?.rename(1, "a b").text).toBe("struct(value.item, n as `a b`)");
  expect(readStruct("struct(upper(x))")?.rewrite(0, "lower(x)").text).toBe("struct(lower(x))");
});

test("a schema is rows: of columns, or of a struct in any depth", () => {
  const text =
    "item STRING NOT NULL, price DECIMAL(10, 2), at STRUCT<x: INT, `y z`: MAP<STRING, INT>>";
  expect(fields(text)).toEqual([
    ["item", "STRING NOT NULL"],
    ["price", "DECIMAL(10, 2)"],
    ["at", "STRUCT<x: INT, `y z`: MAP<STRING, INT>>"],
  ]);
  const inner = "STRUCT<x: INT, `y z`: MAP<STRING, INT>>";
  expect(fields(inner)).toEqual([
    ["x", "INT"],
    ["y z", "MAP<STRING, INT>"],
  ]);
  expect(readSchema(inner)?.add("n", "STRING").text).toBe(
    "STRUCT<x: INT, `y z`: MAP<STRING, INT>, n: STRING>",
  );
  expect(readSchema(text)?.rename(2, "place").text).toContain("place STRUCT<x: INT");
  expect(readSchema("item STRING")?.add("n", "INT").text).toBe("item STRING, n INT");
});

test("a row may hold what is not finished, and the others can be changed meanwhile", () => {
  const typing = readStruct("named_struct('a', 1, 'b', 2)")?.rewrite(0, "f('x");
  expect(typing?.text).toBe("named_struct('a', f('x, 'b', 2)");
  expect(typing?.rows[0]).toEqual({ name: "a", text: "f('x" });
  expect(typing?.rewrite(1, "3").text).toBe("named_struct('a', f('x, 'b', 3)");
  const typed = readSchema("item STRING, n INT")?.rewrite(1, "");
  expect(typed?.rows[1]).toEqual({ name: "n", text: "" });
  expect(typed?.rewrite(1, "BIGINT").text).toBe("item STRING, n BIGINT");
});

test("a plain type, an Avro schema and an unfinished schema are no rows", () => {
  for (const text of [
    "",
    "STRING",
    "ARRAY<INT>",
    "MAP<STRING, INT>",
    '{"type": "record"}',
    "a STRUCT<",
  ])
    expect(fields(text), text).toBeUndefined();
});
