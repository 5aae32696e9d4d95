import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fetchTexts, phrase, setLanguage, t } from "./i18n";
import { rooms, texts } from "./zh";

const SOURCE = join(import.meta.dirname, "..");

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !/\.test\.|\.d\.ts$/.test(entry.name) ? [path] : [];
  });
}

/** The texts of each folder: the first argument of each `t` and `phrase`. */
function used(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const path of sources(SOURCE)) {
    const room = path.slice(SOURCE.length + 1).split("/")[0] ?? "";
    const code = readFileSync(path, "utf8").replace(/\/\*\*.*?\*\//gs, "");
    for (const match of code.matchAll(/(?<![\w.])(?:t|phrase)\(\s*("(?:[^"\\]|\\.)*")/g)) {
      const text = JSON.parse(match[1] ?? '""') as string;
      found.set(text, (found.get(text) ?? new Set()).add(room));
    }
  }
  return found;
}

test("every text has a Chinese translation with the same values, and no translation is unused", () => {
  const all = [...used().keys()];
  expect(all.length).toBeGreaterThan(1000);
  expect(all.filter((text) => texts[text] === undefined)).toEqual([]);
  expect(Object.keys(texts).filter((text) => !all.includes(text))).toEqual([]);
  // A value in a plural, `{n|task|tasks}`, may be missing in a language without plurals.
  const values = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort().join();
  expect(all.filter((text) => values(text) !== values(texts[text] ?? ""))).toEqual([]);
});

test("a translation is in the dictionary of the room that uses it, or in common", () => {
  const places = used();
  const wrong = Object.entries(rooms).flatMap(([room, dictionary]) =>
    Object.keys(dictionary).filter((text) => {
      const users = places.get(text) ?? new Set();
      return users.size > 1 ? room !== "common" : !users.has(room);
    }),
  );
  expect(wrong).toEqual([]);
});

test("a text is English until the translations are there, and in the language of the moment", async () => {
  try {
    setLanguage("zh");
    expect(t("Save")).toBe("Save");
    await fetchTexts("zh");
    expect(t("Save")).toBe("保存");
    expect(t(phrase("{n} {n|task|tasks}"), { n: 3 })).toBe("3 个任务");
    setLanguage("en");
    expect(t("{n} {n|task|tasks}", { n: 1 })).toBe("1 task");
  } finally {
    setLanguage("en");
  }
});
