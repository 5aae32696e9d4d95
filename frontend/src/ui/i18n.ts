/**
 * Texts of the page. The English text stands in the code and is the key of its translations, which are fetched
 * when the page is shown in another language:
 *
 *     t("Save {n} changes", { n: 3 })
 *
 * `t` accepts only a literal text, or one that was marked with `phrase`, so that a test can find all texts and check
 * their translations.
 */

import { create } from "zustand";

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

const useLanguageState = create<{ language: Language }>()(() => ({ language: first() }));

export function language(): Language {
  return useLanguageState.getState().language;
}

/** The language of the page. Used as the `key` of a view, it remounts the view when the language changes. */
export function useLanguage(): Language {
  return useLanguageState((state) => state.language);
}

export function setLanguage(next: Language) {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  useLanguageState.setState({ language: next });
  markLanguage();
}

/** Sets the language of the document, for fonts and screen readers. */
export function markLanguage(): void {
  document.documentElement.lang = language() === "zh" ? "zh-CN" : "en";
}

/** Inserts values: `{n}` is the value; `{n|task|tasks}` is the first word if the value is 1, else the second. */
export function fill(text: string, values: Values): string {
  const counted = text.replace(
    /\{(\w+)\|([^|}]*)\|([^}]*)\}/g,
    (_whole, name: string, one: string, many: string) =>
      String(values[name]) === "1" ? one : many,
  );
  return counted.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}

type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never;

declare const marked: unique symbol;

/** A text that has a translation. */
export type Phrase = string & { readonly [marked]: true };

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
  readonly texts: Table;
  readonly catalog: Table;
  readonly causes: Alternating;
  readonly diagnostics: Sentences;
  readonly differences: Table;
  readonly errors: Alternating;
  readonly forms?: Forms;
  readonly words: Table;
} = {
  texts: {},
  catalog: {},
  causes: {},
  diagnostics: {},
  differences: {},
  errors: {},
  words: {},
};

/** Loads the texts of a language before the page is drawn in it. English is part of the code. */
export async function fetchTexts(next: Language): Promise<void> {
  if (next === "zh") translations = await import("./zh");
}

/** Marks a text in a table for later translation: `{ id: "light", title: phrase("Light") }`. */
export function phrase(text: string): Phrase {
  return text as Phrase;
}

/** Translates a text into the language of the page and inserts `values`. */
export function t<Text extends string>(
  text: Text & (string extends Text ? never : IsUnion<Text> extends true ? never : unknown),
  values: Values = {},
): Translated {
  return fill(
    language() === "en" ? text : (translations.texts[text] ?? text),
    values,
  ) as Translated;
}

/** A text of the catalog in the language of the page; undefined without a translation. */
export function catalogText(text: string): string | undefined {
  return language() === "en" ? undefined : translations.catalog[text];
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
  return { message: fill(texts[0], values), hint: fill(texts[1], values) };
}

/** A difference from an expected result in the page's language; undefined without a translation. */
export function differenceText(
  code: string,
  facts: Readonly<Record<string, string>>,
): string | undefined {
  const text = language() === "en" ? undefined : translations.differences[code];
  return text === undefined ? undefined : fill(text, facts);
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
  return text === undefined ? undefined : fill(text, inWords(data));
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
function inWords(facts: Readonly<Record<string, unknown>>): Values {
  const text = (fact: string) =>
    translations.words[fact] ??
    catalogText(fact) ??
    fact.replace(/“([^”]+)”/g, (_, title: string) => `“${titleInWords(title)}”`);
  const translated = Object.entries(facts).map(([name, fact]) => {
    if (name === "port") return [name, String(fact)];
    const title = name === "other" || name === "value";
    return [name, title ? titleInWords(String(fact)) : text(String(fact))];
  });
  return Object.fromEntries(translated) as Values;
}
