import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "..");

/** Imports of a folder's files, except its tests, from outside the folder. */
function foreign(folder: string): string[] {
  return readdirSync(join(SOURCE, folder))
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\./.test(name))
    .flatMap((name) => {
      const text = readFileSync(join(SOURCE, folder, name), "utf8");
      return [...text.matchAll(/(?:from|import) "([^"]+)"/g)].map((match) => match[1] ?? "");
    })
    .filter((from) => !from.startsWith("./"));
}

test("the document model knows no framework and no other room", () => {
  // The types of the catalog are generated from the API's description.
  expect([...new Set(foreign("graph"))].sort()).toEqual(["../api/schema", "elkjs/lib/elk-api"]);
});

test("pages are imported by the application alone", () => {
  const below = readdirSync(SOURCE, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !["app", "pages"].includes(entry.name))
    .map((entry) => entry.name);
  expect(below.filter((room) => foreign(room).some((from) => /\/pages\//.test(from)))).toEqual([]);
  expect(foreign("versions").filter((from) => /\/deployments\//.test(from))).toEqual([]);
});

test("small parts and the theme know no room that uses them", () => {
  const rooms = /^\.\.\/(?!theme|ui)/;
  expect([...foreign("ui"), ...foreign("theme")].filter((from) => rooms.test(from))).toEqual([]);
});
