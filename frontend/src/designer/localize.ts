/** The catalog in the language of the page; texts without a translation stay in English. */

import type { Catalog, Kind, Parameter } from "../graph/catalog";
import { catalogText, language } from "../ui/i18n";

function word(english: string): string {
  return catalogText(english) ?? english;
}

function titled<T extends { readonly title: string }>(entry: T): T {
  return { ...entry, title: word(entry.title) };
}

/** One choice of a parameter: `window_close` as `Window close`. */
export function choiceTitle(choice: string): string {
  const translated = catalogText(choice);
  if (translated !== undefined) return translated;
  const text = choice.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function kind(entry: Kind): Kind {
  return {
    ...entry,
    title: word(entry.title),
    description: word(entry.description),
    // The English name still finds it.
    synonyms: [...entry.synonyms, entry.title],
    parameters: entry.parameters.map(titled<Parameter>),
  };
}

export function localize(catalog: Catalog): Catalog {
  if (language() === "en") return catalog;
  return {
    ...catalog,
    families: catalog.families.map(titled),
    kinds: catalog.kinds.map(kind),
    formats: catalog.formats.map(titled),
    settings: catalog.settings.map(titled),
  };
}
