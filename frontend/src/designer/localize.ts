/** The catalogue in the language of the page; texts without a translation stay in English. */

import type { Catalogue, Kind, Parameter } from "../graph/catalogue";
import { catalogueText, language } from "../ui/i18n";

function word(english: string): string {
  return catalogueText(english) ?? english;
}

function titled<T extends { readonly title: string }>(entry: T): T {
  return { ...entry, title: word(entry.title) };
}

/** One choice of a parameter: `window_close` as `Window close`. */
export function choiceTitle(choice: string): string {
  const translated = catalogueText(choice);
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

export function localize(catalogue: Catalogue): Catalogue {
  if (language() === "en") return catalogue;
  return {
    ...catalogue,
    families: catalogue.families.map(titled),
    kinds: catalogue.kinds.map(kind),
    formats: catalogue.formats.map(titled),
    settings: catalogue.settings.map(titled),
  };
}
