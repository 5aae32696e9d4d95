/** The compiler's catalog in the language of the page. */

import { type Catalog, type Kind, kindOf, type Parameter } from "../graph/catalog";
import { KINDS_OF_FRAGMENTS } from "../graph/fragments";
import { catalogText } from "../ui/i18n";

function word(english: string, ids: readonly string[] = []): string {
  return catalogText(english, ids) ?? english;
}

function titled<T extends { readonly title: string }>(entry: T): T {
  return { ...entry, title: word(entry.title) };
}

/** Removes citations such as ` [KT1]`, which refer to the documentation. */
function uncited(text: string): string {
  return text.replace(/\s*\[[A-Z]{2}(-?\d+[a-z]?)?\]/g, "");
}

function helpText(text: string, ids: readonly string[]): string {
  return word(uncited(text), ids);
}

/** The ids of a text of a kind: its own, and that of the texts which its family shares. */
function idsOf(kind: Kind, part: string): string[] {
  return [`${kind.kind}.${part}`, `${kind.family}.${part}`];
}

/** Translates the guarantee of a node, or the reason why it runs as it does. */
export function planText(
  catalog: Catalog | null,
  kind: string,
  part: "guarantee" | "why",
  text: string,
): string {
  const entry = catalog === null ? undefined : kindOf(catalog, kind);
  return helpText(text, entry === undefined ? [] : idsOf(entry, part));
}

function parameter(entry: Parameter, owners: readonly string[]): Parameter {
  const unit = entry.unit == null ? entry.unit : word(entry.unit);
  const ids = [...owners, `parameters.${entry.name}`];
  return { ...titled(entry), help: helpText(entry.help, ids), unit };
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
    description: word(entry.description, idsOf(entry, "description")),
    help: helpText(entry.help, idsOf(entry, "help")),
    // Searches still find the English name.
    synonyms: [...entry.synonyms, entry.title],
    parameters: entry.parameters.map((each) =>
      parameter(each, idsOf(entry, `parameters.${each.name}`)),
    ),
  };
}

/** Titles and help in the language of the page; texts without a translation stay in English. */
export function localize(catalog: Catalog): Catalog {
  return {
    ...catalog,
    families: catalog.families.map(titled),
    kinds: catalog.kinds.map(kind),
    parts: KINDS_OF_FRAGMENTS.map(kind),
    formats: catalog.formats.map((entry) => ({
      ...titled(entry),
      description: helpText(entry.description, [`formats.${entry.format}`]),
    })),
    settings: catalog.settings.map((entry) => parameter(entry, [`settings.${entry.name}`])),
  };
}
