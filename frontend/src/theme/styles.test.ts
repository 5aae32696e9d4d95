import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

const mantine = dirname(createRequire(import.meta.url).resolve("@mantine/core/styles.css"));

/** The modules that a file of Mantine stands on, itself among them. */
function standsOn(file: string, seen: Set<string>): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, path = ""] of text.matchAll(/from "(\.[^"]+)"/g))
    standsOn(join(dirname(file), path), seen);
  return seen;
}

test("every Mantine component of the page has its styles", () => {
  const source = join(import.meta.dirname, "..");
  const texts = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes(".test."))
    .map((file) => readFileSync(join(source, file), "utf8"));
  const names = texts
    .flatMap((text) => [...text.matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)])
    .flatMap(([, names = ""]) => names.split(","))
    .map((name) => name.trim());
  const modules = names
    .map((name) => join(mantine, "esm/components", name, `${name}.mjs`))
    .filter(existsSync)
    .reduce((seen, file) => standsOn(file, seen), new Set<string>());
  const needed = [...modules]
    .filter((file) => file.endsWith(".module.mjs"))
    .map((file) => basename(file, ".module.mjs"))
    .filter((name) => existsSync(join(mantine, "styles", `${name}.css`)));
  const imported = readFileSync(join(import.meta.dirname, "components.css"), "utf8");
  const missing = needed.filter((name) => !imported.includes(`/${name}.css"`));
  expect(needed.length).toBeGreaterThan(20);
  expect(missing.map((name) => `@import "@mantine/core/styles/${name}.css";`)).toEqual([]);
});
