/**
 * Texts of the page, by Lingui. The English text is in the code and travels with it; its translations are in `zh.ts` of
 * the folder, which are fetched when the page is shown in another language. Texts are ICU messages:
 *
 *     t("Save {n} {n, plural, one {change} other {changes}}", { n: 3 })
 *     t({ id: "pages.delete_question", message: "The topology, its versions and its tests are deleted. …" })
 *
 * A text of up to 60 characters is its own id. `t` accepts only literal texts, or those that were marked with `phrase`,
 * so that a test can find all of them and check their translations.
 */

import { setupI18n } from "@lingui/core";
import { useSyncExternalStore } from "react";
import { compileMessage } from "./messages";

export type Language = "en" | "zh";

export const LANGUAGES: readonly { id: Language; title: string }[] = [
  { id: "en", title: "English" },
  { id: "zh", title: "中文" },
];

const KEY = "millrace.language";

function first(): Language {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === "en" || kept === "zh") return kept;
  } catch {
    // Without storage, the browser's language is used.
  }
  return typeof navigator !== "undefined" && navigator.language.startsWith("zh") ? "zh" : "en";
}

const i18n = setupI18n({ locale: first(), messages: { en: {}, zh: {} } });
i18n.setMessagesCompiler(compileMessage);

export function language(): Language {
  return i18n.locale as Language;
}

/** The language of the page. Used as the `key` of a view, it remounts the view when the language changes. */
export function useLanguage(): Language {
  return useSyncExternalStore((changed) => i18n.on("change", changed), language);
}

export function setLanguage(next: Language) {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  i18n.activate(next);
  markLanguage();
}

/** Sets the language of the document, for fonts and screen readers. */
export function markLanguage(): void {
  document.documentElement.lang = language() === "zh" ? "zh-CN" : "en";
}

type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never;

declare const marked: unique symbol;

/** A text with an id, for texts that are too long to be one. */
export interface Message {
  readonly id: string;
  readonly message: string;
}

/** A text that has a translation. */
export type Phrase = (string | Message) & { readonly [marked]: true };

/** `unknown` for a literal text, a message or a marked text, and `never` for any other string. */
type Literal<Text> = [Text] extends [Phrase | Message]
  ? unknown
  : string extends Text
    ? never
    : IsUnion<Text> extends true
      ? never
      : unknown;

declare const translated: unique symbol;

/** A text in the language of the page: what `t` has returned. */
export type Translated = string & { readonly [translated]: true };

type Values = Readonly<Record<string, string | number>>;
type Table = Readonly<Record<string, string>>;

/** One sentence or several, of which the first is shown whose values are all available. */
export type Alternatives = string | readonly string[];

type Alternating = Readonly<Record<string, Alternatives>>;

/** Message and hint by the code of a diagnostic. */
type Sentences = Readonly<Record<string, readonly [string, string]>>;

/** The compiler's sentences about nodes by their English form, and the units of durations in them. */
export interface Forms {
  readonly sentences: Table;
  readonly units: Table;
}

let translations: {
  readonly catalog: Table;
  readonly causes: Alternating;
  readonly diagnostics: Sentences;
  readonly differences: Table;
  readonly errors: Alternating;
  readonly forms?: Forms;
  readonly words: Table;
} = {
  catalog: {},
  causes: {},
  diagnostics: {},
  differences: {},
  errors: {},
  words: {},
};

/** Loads the texts of a language before the page is drawn in it. English is part of the code. */
export async function fetchTexts(next: Language): Promise<void> {
  if (next === "en") return;
  const fetched = await import("./zh/index");
  translations = fetched;
  i18n.load(next, fetched.texts);
}

/** Marks a text in a table for later translation: `{ id: "light", title: phrase("Light") }`. */
export function phrase(text: string | Message): Phrase {
  return text as Phrase;
}

/** Translates a text into the language of the page and inserts `values`. */
export function t<Text extends string | Message>(
  text: Text & Literal<Text>,
  values: Values = {},
): Translated {
  return insert(text, values) as Translated;
}

/** The translation of a message, or the message itself if it has none, with the values inserted. */
export function insert(text: string | Message, values: Values): string {
  const exact = Object.entries(values).map(([name, value]) => [name, verbatim(value)]);
  const { id, message } = typeof text === "string" ? { id: text, message: text } : text;
  return i18n._(id, Object.fromEntries(exact), { message });
}

/** Lingui reads escape sequences in what it has inserted; this makes a value come out as it is. */
function verbatim(value: string | number): string | number {
  return typeof value === "string" ? value.replaceAll("\\", "\\x5c") : value;
}

/** The key of a text of the catalog is the text, or one of its ids if it is longer than this. */
const LONGEST_KEY = 60;

/** A text of the catalog in the language of the page, if it is long by its first known id; undefined without a translation. */
export function catalogText(text: string, ids: readonly string[] = []): string | undefined {
  if (language() === "en") return undefined;
  const keys = text.length > LONGEST_KEY ? ids : [text];
  return keys.map((key) => translations.catalog[key]).find((found) => found !== undefined);
}

/** Forms of the sentences about nodes in the page's language; undefined in English. */
export function sentenceForms(): Forms | undefined {
  return language() === "en" ? undefined : translations.forms;
}

/** Message and hint of a diagnostic in the page's language; undefined without a translation. */
export function diagnosticTexts(
  code: string,
  facts: Readonly<Record<string, string>>,
): { readonly message: string; readonly hint: string } | undefined {
  const texts = language() === "en" ? undefined : translations.diagnostics[code];
  if (texts === undefined) return undefined;
  const values = inWords(facts);
  return { message: insert(texts[0], values), hint: insert(texts[1], values) };
}

/** A difference from an expected result in the page's language; undefined without a translation. */
export function differenceText(
  code: string,
  facts: Readonly<Record<string, string>>,
): string | undefined {
  const text = language() === "en" ? undefined : translations.differences[code];
  return text === undefined ? undefined : insert(text, facts);
}

/** An error of the server in the language of the page; undefined without a translation or if a value is missing. */
export function errorText(
  code: string,
  data: Readonly<Record<string, unknown>>,
): string | undefined {
  return language() === "en" ? undefined : filled([translations.errors[code]], data);
}

/** A cause in the language of the page; undefined without a translation or if a value is missing. */
export function causeText(
  code: string,
  data: Readonly<Record<string, unknown>>,
): string | undefined {
  if (language() === "en") return undefined;
  const { causes, diagnostics, errors } = translations;
  return filled([causes[code], errors[code], diagnostics[code]?.[0]], data);
}

/** The first text whose values are all available, with the values inserted. */
function filled(
  texts: readonly (Alternatives | undefined)[],
  data: Readonly<Record<string, unknown>>,
): string | undefined {
  const text = texts
    .flatMap((each) => each ?? [])
    .find((each) => namesIn(each).every((name) => data[name] != null));
  return text === undefined ? undefined : insert(text, inWords(data));
}

/** The names of the values in a text. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)[|}]/g)].map(([, name]) => name ?? "");
}

/** A title of the catalog or a choice as it is shown, such as “Time limit”, in the language of the page. */
function titleInWords(title: string): string {
  const code = title.toLowerCase().replaceAll(" ", "_");
  return catalogText(title) ?? catalogText(code) ?? title;
}

/**
 * Facts as text; words of the compiler, and titles alone or in quotation marks, are translated. Ports are not: the
 * canvas shows their names.
 */
export function inWords(facts: Readonly<Record<string, unknown>>): Values {
  const text = (fact: string) =>
    translations.words[fact] ??
    catalogText(fact) ??
    fact
      .replace(/“([^”]+)”/g, (_, title: string) => `“${titleInWords(title)}”`)
      .replaceAll("” or “", language() === "en" ? "” or “" : "”或“");
  const translated = Object.entries(facts).map(([name, fact]) => {
    if (name === "port") return [name, String(fact)];
    const title = name === "other" || name === "value";
    return [name, title ? titleInWords(String(fact)) : text(String(fact))];
  });
  return Object.fromEntries(translated) as Values;
}
