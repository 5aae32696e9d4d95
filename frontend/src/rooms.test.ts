import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { expect, test } from "vitest";

/**
 * The folders of `src`. Each may import from those in lines above its own, and from no other. Tests and `testing`, which
 * only tests import, may import from all.
 */
const ROOMS = [
  ["theme", "ui", "graph"],
  ["api"],
  ["frame", "designer", "generate"],
  ["live", "picture", "plan", "problems", "versions", "alerts"],
  ["code", "commands", "stores"],
  ["canvas", "inspector"],
  ["palette", "simulate"],
  ["reference", "topics", "learn"],
  ["runtime", "workbench", "differing", "git", "comments"],
  ["deployments"],
  ["pages"],
  ["app"],
] as const;

const SOURCE = import.meta.dirname;
const IMPORT =
  /(?:^|\n)(?:import|export)\s(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*(?:\/\*.*?\*\/\s*)?"([^"]+)"/g;

/** The source files below a folder without tests. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.|\.d\.ts$/.test(name))
    .map((name) => join(folder, name));
}

/** What a file imports, by `import` and `import()`. */
function importsOf(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(IMPORT)].map(
    ([, static_, lazy]) => static_ ?? lazy ?? "",
  );
}

/** The room of an imported file; null for packages and for files beside the rooms. */
function roomOf(file: string, from: string): string | null {
  if (!from.startsWith(".")) return null;
  const [room = "", ...rest] = relative(SOURCE, join(dirname(file), from)).split(sep);
  return rest.length > 0 || isFolder(room) ? room : null;
}

const isFolder = (room: string) =>
  statSync(join(SOURCE, room), { throwIfNoEntry: false })?.isDirectory() === true;

test("each folder is in the list of rooms", () => {
  const folders = readdirSync(SOURCE).filter(isFolder);
  expect(folders.sort()).toEqual([...ROOMS.flat(), "testing"].sort());
});

test("a room imports only from rooms above it in the list", () => {
  const wrong = ROOMS.flatMap((rooms, level) => {
    const allowed = new Set<string>(ROOMS.slice(0, level).flat());
    return rooms.flatMap((room) =>
      filesBelow(join(SOURCE, room)).flatMap((file) =>
        importsOf(file)
          .filter((from) => {
            const found = roomOf(file, from);
            return found !== null && found !== room && !allowed.has(found);
          })
          .map((from) => `${relative(SOURCE, file)} imports ${from}`),
      ),
    );
  });
  expect(wrong).toEqual([]);
});

test("the document model knows no framework", () => {
  const foreign = filesBelow(join(SOURCE, "graph"))
    .flatMap(importsOf)
    .filter((from) => !from.startsWith("./"));
  // The types of the catalog are generated from the API's description.
  expect([...new Set(foreign)].sort()).toEqual(["../schema", "elkjs/lib/elk-api"]);
});
