/** The compiler's one-sentence descriptions of nodes, in the language of the page. */

import type { Sentence } from "../api/types";
import { catalogText, type Forms, sentenceForms } from "../ui/i18n";

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

/** The text of a sentence; one of an unknown form stays in English. */
export function sentenceText({ form, values }: Sentence): string {
  const translation = sentenceForms()?.sentences[form];
  return (translation ?? form).replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name] ?? "";
    if (typeof value !== "string") return sentenceText(value);
    if (translation === undefined) return value;
    if (name === "type") return catalogText(value) ?? value;
    return name.startsWith("time") ? durationWords(value) : value;
  });
}
