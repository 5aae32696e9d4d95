/** Completion and hover in expressions: available columns with their fields, then Spark functions. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { hoverTooltip } from "@codemirror/view";
import type { CatalogFunction } from "../../graph/catalog";
import { type SparkType, shortType, typeAt, writeType } from "../../graph/types";
import type { Column } from "../columns";

const WORDS = [
  "AND",
  "OR",
  "NOT",
  "IS NULL",
  "IS NOT NULL",
  "IN",
  "BETWEEN",
  "LIKE",
  "CASE WHEN",
  "THEN",
  "ELSE",
  "END",
  "CAST",
  "AS",
  "NULL",
  "TRUE",
  "FALSE",
  "INTERVAL",
  "DIV",
];

function rootOf(columns: readonly Column[]): SparkType {
  return {
    name: "STRUCT",
    parts: [],
    fields: columns.map((column) => ({
      name: column.name,
      type: column.type ?? { name: "", fields: [], parts: [] },
    })),
  };
}

function option(name: string, type: SparkType, boost: number): Completion {
  const nested = type.fields.length > 0;
  return { label: name, type: nested ? "namespace" : "property", detail: shortType(type), boost };
}

/** A text that stands for the value of a parameter of the topology, with its type and default. */
export interface Place {
  readonly text: string;
  readonly type: string;
  readonly value: string;
}

/** The completion source for these columns and functions. */
export function completions(
  columns: readonly Column[],
  functions: readonly CatalogFunction[],
  places: readonly Place[] = [],
): (context: CompletionContext) => CompletionResult | null {
  const root = rootOf(columns);
  const offered: Completion[] = functions.map((each) => ({
    label: each.name,
    type: "function",
    apply: `${each.name}(`,
    detail: "",
    info: [each.usage, each.description].filter((part) => part !== "").join("\n\n"),
    boost: -10,
  }));
  const words: Completion[] = WORDS.map((label) => ({ label, type: "keyword", boost: -20 }));
  return (context) => {
    const place = context.matchBefore(/\$\{?\w*\}?/);
    if (place !== null && places.length > 0) {
      return {
        from: place.from,
        options: places.map(({ text, type, value }) => ({
          label: text,
          type: "variable",
          detail: type,
          info: value,
        })),
        validFor: /^\$\{?\w*\}?$/,
      };
    }
    const path = context.matchBefore(/[\w`]+(\.[\w`]*)+/);
    if (path !== null) {
      const parts = path.text.replaceAll("`", "").split(".");
      const type = typeAt(root, parts.slice(0, -1));
      if (type === null || type.fields.length === 0) return null;
      return {
        from: path.from + path.text.lastIndexOf(".") + 1,
        options: type.fields.map((field) => option(field.name, field.type, 20)),
        validFor: /^\w*$/,
      };
    }
    const word = context.matchBefore(/\w+/);
    if (word === null && !context.explicit) return null;
    return {
      from: word?.from ?? context.pos,
      options: [
        ...root.fields.map((field) => option(field.name, field.type, 50)),
        ...offered,
        ...words,
      ],
      validFor: /^\w*$/,
    };
  };
}

/** Shows the type of the column or field under the pointer, or the description of the function. */
export function typeOnHover(
  columns: () => readonly Column[],
  functions: () => readonly CatalogFunction[],
) {
  return hoverTooltip((view, position) => {
    const line = view.state.doc.lineAt(position);
    const offset = position - line.from;
    for (const match of line.text.matchAll(/[A-Za-z_]\w*(\.\w+)*/g)) {
      const start = match.index;
      const end = start + match[0].length;
      if (offset < start || offset > end) continue;
      const upTo = match[0].slice(0, Math.max(offset - start, 1));
      const depth = upTo.split(".").length;
      const path = match[0].split(".").slice(0, depth);
      const type = typeAt(rootOf(columns()), path);
      const called = functions().find((each) => each.name === match[0].toLowerCase());
      const text =
        type !== null && (type.name !== "" || type.fields.length > 0)
          ? `${path.join(".")}: ${writeType(type)}`
          : (called?.usage ?? "");
      if (text === "") return null;
      return {
        pos: line.from + start,
        end: line.from + end,
        above: true,
        create: () => {
          const dom = document.createElement("div");
          dom.className = "cm-hover";
          dom.textContent = text;
          return { dom };
        },
      };
    }
    return null;
  });
}
