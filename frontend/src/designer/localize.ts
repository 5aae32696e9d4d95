/** The compiler's catalog in the language of the page. */

import type { Catalog, Kind, Parameter } from "../graph/catalog";
import { KINDS_OF_FRAGMENTS } from "../graph/fragments";
import { catalogText } from "../ui/i18n";

function word(english: string): string {
  return catalogText(english) ?? english;
}

function titled<T extends { readonly title: string }>(entry: T): T {
  return { ...entry, title: word(entry.title) };
}

/** Removes citations such as ` [KT1]`, which refer to the documentation. */
function uncited(text: string): string {
  return text.replace(/\s*\[[A-Z]{2}(-?\d+[a-z]?)?\]/g, "");
}

/** Translates a help text, guarantee or reason of the compiler. */
export function helpText(text: string): string {
  return word(uncited(text));
}

function parameter(entry: Parameter): Parameter {
  const unit = entry.unit == null ? entry.unit : word(entry.unit);
  return { ...titled(entry), help: helpText(entry.help), unit };
}

/** The title of a parameter's choice: `window_close` becomes `Window close`. */
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
    help: helpText(entry.help),
    // Searches still find the English name.
    synonyms: [...entry.synonyms, entry.title],
    parameters: entry.parameters.map(parameter),
  };
}

/** Titles and help in the language of the page; texts without a translation stay in English. */
export function localize(catalog: Catalog): Catalog {
  return {
    ...catalog,
    families: catalog.families.map(titled),
    kinds: catalog.kinds.map(kind),
    parts: KINDS_OF_FRAGMENTS.map(kind),
    formats: catalog.formats.map(titled),
    settings: catalog.settings.map(parameter),
  };
}
