/** The compiler's one-sentence descriptions of nodes, in the language of the page. */

import type { Sentence } from "../api/types";
import { catalogText, type Forms, sentenceForms } from "../ui/i18n";

/** Units as `span` of `ui/format.ts` writes them; a node has room for some 35 characters. */
const SHORT: Forms["units"] = { second: "s", minute: "min", hour: "h" };

const singular = (unit: string) => unit.replace(/(?<=...)s$/, "");

/** Translates a duration such as `5 minutes`. */
function timeText(text: string, units: Forms["units"]): string {
  const [amount = "", unit = ""] = text.split(" ");
  return `${amount} ${units[singular(unit)] ?? unit}`;
}

/** Translates a duration as written in the document, such as `5 minutes`. */
export function durationWords(text: string): string {
  const forms = sentenceForms();
  return forms === undefined ? text : timeText(text, forms.units);
}

/** `per hour` in place of `per 1 hour`. */
function briefly({ form, values }: Sentence): Sentence {
  const { time } = values;
  if (form !== "per {time}" || typeof time !== "string") return { form, values };
  const [amount, unit = ""] = time.split(" ");
  if (amount !== "1") return { form, values };
  return { form: "per {unit}", values: { unit: sentenceForms()?.units[unit] ?? unit } };
}

/** The text of a sentence; one of an unknown form stays in English. */
export function sentenceText(sentence: Sentence): string {
  const { form, values } = briefly(sentence);
  const forms = sentenceForms();
  const translation = forms?.sentences[form];
  return (translation ?? form).replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name] ?? "";
    if (typeof value !== "string") return sentenceText(value);
    if (name.startsWith("time")) {
      if (forms === undefined) return timeText(value, SHORT);
      return translation === undefined ? value : timeText(value, forms.units);
    }
    return name === "type" && translation !== undefined ? (catalogText(value) ?? value) : value;
  });
}

/** How long a store keeps its rows, as its sentence says; undefined if it keeps all, or the usual. */
export function keptText({ values }: Sentence): string | undefined {
  const { time } = values;
  return typeof time === "string"
    ? sentenceText({ form: "kept {time}", values: { time } })
    : undefined;
}
