// @vitest-environment happy-dom
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileMessage as everythingOfICU } from "@lingui/message-utils/compileMessage";
import { expect, test } from "vitest";
import { fetchTexts, insert, phrase, setLanguage, t } from "./i18n";
import { compileMessage } from "./messages";
import {
  catalog,
  causes,
  diagnostics,
  differences,
  errors,
  forms,
  rooms,
  texts,
  words,
} from "./zh/index";

const SOURCE = join(import.meta.dirname, "..");

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !/\.test\.|\.d\.ts$/.test(entry.name) ? [path] : [];
  });
}

interface Used {
  readonly message: string;
  readonly rooms: Set<string>;
}

const STRING = /"(?:[^"\\]|\\.)*"/.source;
const CALL = new RegExp(
  `(?<![\\w.])(?:t|phrase)\\(\\s*(?:(${STRING})|\\{\\s*id:\\s*(${STRING}),\\s*message:\\s*(${STRING}))`,
  "g",
);
const literal = (found: string | undefined) => JSON.parse(found ?? '""') as string;

/** The texts of the page by their id: the first argument of each `t` and `phrase`. */
function used(): Map<string, Used> {
  const found = new Map<string, Used>();
  for (const path of sources(SOURCE)) {
    const room = path.slice(SOURCE.length + 1).split("/")[0] ?? "";
    const code = readFileSync(path, "utf8").replace(/\/\*\*.*?\*\//gs, "");
    for (const [, text, id = text, message = text] of code.matchAll(CALL)) {
      const known = found.get(literal(id)) ?? { message: literal(message), rooms: new Set() };
      expect(literal(message), "one id, two messages").toBe(known.message);
      found.set(literal(id), { ...known, rooms: known.rooms.add(room) });
    }
  }
  return found;
}

/** The values that a message inserts, without those that only choose a plural. */
const values = (text: string) =>
  [
    ...new Set(
      compileMessage(text).flatMap((each) =>
        typeof each !== "string" && each.length === 1 ? each[0] : [],
      ),
    ),
  ]
    .sort()
    .join();

test("every text has a Chinese translation with the same values, and no translation is unused", () => {
  const all = used();
  expect(all.size).toBeGreaterThan(1000);
  expect([...all.keys()].filter((id) => texts[id] === undefined)).toEqual([]);
  expect(Object.keys(texts).filter((id) => !all.has(id))).toEqual([]);
  const wrong = [...all].filter(([id, { message }]) => values(message) !== values(texts[id] ?? ""));
  expect(wrong).toEqual([]);
});

test("the id of a text is the text up to 60 characters; longer ones have an id of their folder", () => {
  const wrong = [...used()].filter(([id, { message, rooms }]) => {
    if (id === message) return id.length > 60;
    const room = rooms.size > 1 ? "common" : [...rooms][0];
    return message.length <= 60 || !new RegExp(`^${room}\\.[a-z_]+$`).test(id);
  });
  expect(wrong.map(([id]) => id)).toEqual([]);
});

test("every message means to the page what it means to Lingui's compiler", () => {
  const all = [...[...used().values()].map(({ message }) => message), ...Object.values(texts)];
  for (const text of all) expect(compileMessage(text), text).toEqual(everythingOfICU(text));
});

test("a translation is in the dictionary of the room that uses it, or in common", () => {
  const places = used();
  const wrong = Object.entries(rooms).flatMap(([room, dictionary]) =>
    Object.keys(dictionary).filter((text) => {
      const users = places.get(text)?.rooms ?? new Set();
      return users.size > 1 ? room !== "common" : !users.has(room);
    }),
  );
  expect(wrong).toEqual([]);
});

test("Chinese texts use the terms of the glossary", () => {
  const glossary = readFileSync(join(SOURCE, "../../docs/contributing/glossary.md"), "utf8");
  const rows =
    glossary
      .split("## Chinese")[1]
      ?.match(/^\|.*\|$/gm)
      ?.slice(2) ?? [];
  const avoided = rows.flatMap((row) => row.split("|").at(-2)?.trim().split("、") ?? []);
  expect(avoided.filter((term) => term !== "").length).toBeGreaterThan(15);
  const all = [texts, catalog, forms.sentences, causes, diagnostics, differences, errors, words]
    .flatMap((each) => Object.values<string | readonly string[]>(each))
    .flat();
  const wrong = avoided.flatMap((term) => all.filter((text) => term !== "" && text.includes(term)));
  expect(wrong).toEqual([]);
});

test("a text is English until the translations are there, and in the language of the moment", async () => {
  try {
    setLanguage("zh");
    expect(t("Save")).toBe("Save");
    await fetchTexts("zh");
    expect(t("Save")).toBe("保存");
    expect(t(phrase("{n} {n, plural, one {task} other {tasks}}"), { n: 3 })).toBe("3 个任务");
    setLanguage("en");
    expect(t("{n} {n, plural, one {task} other {tasks}}", { n: 1 })).toBe("1 task");
    expect(t("{n} {n, plural, one {task} other {tasks}}", { n: "1,204" })).toBe("1,204 tasks");
  } finally {
    setLanguage("en");
  }
});

test("values are inserted as they are", () => {
  const value = "{a} \\u0041 \\x41 $& {n, plural, one {x} other {y}}";
  expect(insert("{a} is {b}", { a: value, b: 1 })).toBe(`${value} is 1`);
});
