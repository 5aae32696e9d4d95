/**
 * Texts of the page in its languages. A room keeps its texts in one `texts.ts`:
 *
 *     export const t = texts({ en: { save: "Save {n} changes" }, zh: { save: "保存 {n} 处更改" } });
 *     t("save", { n: 3 })
 *
 * English gives the names; a language in which one is missing does not compile.
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
    // Without storage the browser's language decides.
  }
  return typeof navigator !== "undefined" && navigator.language.startsWith("zh") ? "zh" : "en";
}

const useLanguageState = create<{ language: Language }>()(() => ({ language: first() }));

export function language(): Language {
  return useLanguageState.getState().language;
}

/** The language of the page; as the `key` of a view it remounts the view when it changes. */
export function useLanguage(): Language {
  return useLanguageState((state) => state.language);
}

export function setLanguage(next: Language) {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // The choice lasts as long as the page.
  }
  useLanguageState.setState({ language: next });
  markLanguage();
}

/** Says in the page itself which language it is in, for fonts and for those who hear it. */
export function markLanguage(): void {
  document.documentElement.lang = language() === "zh" ? "zh-CN" : "en";
}

/** Puts values in: `{n}` is the value, `{n|task|tasks}` the first word if it is 1, else the second. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  const counted = text.replace(
    /\{(\w+)\|([^|}]*)\|([^}]*)\}/g,
    (_whole, name: string, one: string, many: string) =>
      String(values[name]) === "1" ? one : many,
  );
  return counted.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}

export function texts<Name extends string>(tables: {
  en: Record<Name, string>;
  zh: Record<NoInfer<Name>, string>;
}) {
  return (name: Name, values: Readonly<Record<string, string | number>> = {}): string =>
    fill(tables[language()][name], values);
}
