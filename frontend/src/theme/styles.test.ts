import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

const mantine = dirname(createRequire(import.meta.url).resolve("@mantine/core/styles.css"));

/** The classes that a style sheet defines. */
function classesOf(file: string): Set<string> {
  const text = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|\d\.\d+|:global\([^)]*\)/g, "");
  const selectors = text.replace(/\{[^{}]*\}/g, "{}");
  return new Set([...selectors.matchAll(/\.([A-Za-z][\w-]*)/g)].map(([, name = ""]) => name));
}

/** The modules that a Mantine module imports, directly or indirectly, including itself. */
function standsOn(file: string, seen: Set<string>): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, path = ""] of text.matchAll(/from "(\.[^"]+)"/g))
    standsOn(join(dirname(file), path), seen);
  return seen;
}

const source = join(import.meta.dirname, "..");
const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !file.includes(".test."))
  .map((file) => ({ file: join(source, file), text: readFileSync(join(source, file), "utf8") }));

test("every class that a component names is in its module of styles, and every one there is named", () => {
  const named = new Map<string, Set<string>>();
  const missing: string[] = [];
  for (const { file, text } of files) {
    for (const [, name = "", path = ""] of text.matchAll(
      /^import (\w+) from "([^"]+\.module\.css)"/gm,
    )) {
      const module = join(dirname(file), path);
      const used = [
        ...text.matchAll(new RegExp(`(?<!["\\w])${name}\\.(?!module\\.css)(\\w+)`, "g")),
      ];
      const computed = text.includes(`${name}[`);
      const all = named.get(module) ?? new Set<string>(computed ? ["*"] : []);
      if (computed) all.add("*");
      for (const [, each = ""] of used) {
        all.add(each);
        if (!classesOf(module).has(each)) missing.push(`${basename(file)}: ${each}`);
      }
      named.set(module, all);
    }
  }
  const unused = [...named].flatMap(([module, used]) =>
    used.has("*")
      ? []
      : [...classesOf(module)]
          .filter((each) => !used.has(each))
          .map((each) => `${basename(module)}: ${each}`),
  );
  expect(named.size).toBeGreaterThan(10);
  expect({ missing, unused }).toEqual({ missing: [], unused: [] });
});

test("every Mantine component of the page has its styles", () => {
  const texts = files.map(({ text }) => text);
  const names = texts
    .flatMap((text) => [...text.matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)])
    .flatMap(([, names = ""]) => names.split(","))
    .map((name) => name.trim());
  // The messages of `@mantine/notifications` are this component.
  if (texts.some((text) => text.includes('from "@mantine/notifications"')))
    names.push("Notification");
  const components = join(mantine, "esm/components");
  const modules = names
    .flatMap((name) => [
      join(components, name, `${name}.mjs`),
      // Some are in a folder of several, such as that of the slider and the range slider.
      join(components, name, name, `${name}.mjs`),
    ])
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
