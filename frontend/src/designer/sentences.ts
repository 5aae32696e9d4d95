/** The compiler's one-sentence descriptions of nodes, in the language of the page. */

import { catalogText, type Forms, sentenceForms } from "../ui/i18n";

const TIME = "-?\\d+ (?:ms|(?:second|minute|hour|day)s?)";
const WINDOW = "(?:per|within|in sessions|in one unlimited window).*";

/** The regular expression for a name in braces. */
function pattern(name: string): string {
  if (name.startsWith("time")) return `(?<${name}>${TIME})`;
  if (name === "window") return `(?<${name}>${WINDOW})`;
  if (name === "type") return `(?<${name}>inner|left|outer)`;
  if (name === "class") return `(?<${name}>\\w+)`;
  return `(?<${name}>.+?)`;
}

const patterns = new Map<string, RegExp>();

function patternOf(form: string): RegExp {
  let found = patterns.get(form);
  if (found === undefined) {
    const parts = form.split(/\{(\w+)\}/);
    const text = parts.map((part, at) =>
      at % 2 === 1 ? pattern(part) : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
    );
    found = new RegExp(`^${text.join("")}$`, "s");
    patterns.set(form, found);
  }
  return found;
}

function translated(text: string, forms: Forms["sentences"], all: Forms): string {
  for (const [english, other] of forms) {
    const facts = patternOf(english).exec(text);
    if (facts === null) continue;
    return other.replace(/\{(\w+)\}/g, (_whole, name: string) => {
      const fact = facts.groups?.[name] ?? "";
      if (name === "window") return translated(fact, all.windows, all);
      if (name === "type") return catalogText(fact) ?? fact;
      return name.startsWith("time") ? timeText(fact, all.units) : fact;
    });
  }
  return text;
}

/** Translates a duration such as `5 minutes`. */
function timeText(text: string, units: Forms["units"]): string {
  const [amount = "", unit = ""] = text.split(" ");
  return `${amount} ${units[unit] ?? units[unit.replace(/s$/, "")] ?? unit}`;
}

/** Translates a duration as written in the document, such as `5 minutes`. */
export function durationWords(text: string): string {
  const forms = sentenceForms();
  return forms === undefined ? text : timeText(text, forms.units);
}

const known = new Map<string, string>();

/** Translates a sentence; one of an unknown form stays in English. */
export function sentenceText(text: string): string {
  const forms = sentenceForms();
  if (forms === undefined) return text;
  const kept = known.get(text);
  if (kept !== undefined) return kept;
  if (known.size > 2_000) known.clear();
  const found = translated(text, forms.sentences, forms);
  known.set(text, found);
  return found;
}
