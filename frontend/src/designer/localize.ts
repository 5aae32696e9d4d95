/** The catalogue in the language of the page; texts without a translation stay in English. */

import type { Catalogue, Kind, Parameter } from "../graph/catalogue";
import type { Json } from "../graph/document";
import { language } from "../ui/i18n";
import { CATALOGUE_ZH } from "./catalogueZh";

function word(english: string): string {
  return CATALOGUE_ZH[english] ?? english;
}

function parameter(entry: Parameter): Parameter {
  const choices = entry.choices?.map((choice) => {
    const value = typeof choice === "string" ? choice : choice.value;
    const title = CATALOGUE_ZH[value] ?? (typeof choice === "string" ? null : choice.title);
    return title === null ? choice : { value, title };
  });
  return {
    ...entry,
    title: word(entry.title),
    ...(choices === undefined ? {} : { choices }),
  };
}

function kind(entry: Kind): Kind {
  return {
    ...entry,
    title: word(entry.title),
    description: word(entry.description),
    // The English name still finds it.
    synonyms: [...entry.synonyms, entry.title],
    parameters: entry.parameters.map(parameter),
  };
}

function format(entry: Json): Json {
  if (entry === null || typeof entry !== "object" || Array.isArray(entry)) return entry;
  return typeof entry.title === "string" ? { ...entry, title: word(entry.title) } : entry;
}

export function localize(catalogue: Catalogue): Catalogue {
  if (language() === "en") return catalogue;
  return {
    ...catalogue,
    families: catalogue.families.map((family) => ({ ...family, title: word(family.title) })),
    kinds: catalogue.kinds.map(kind),
    ...(catalogue.formats === undefined ? {} : { formats: catalogue.formats.map(format) }),
    ...(catalogue.settings === undefined ? {} : { settings: catalogue.settings.map(parameter) }),
  };
}
