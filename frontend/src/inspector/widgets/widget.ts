import type { Diagnostic } from "../../api/types";
import type { Parameter } from "../../graph/catalog";
import { asObject, type DocumentNode, type Json } from "../../graph/document";

/** Props of every widget. A widget stores its input in the document, valid or not. */
export interface WidgetProps {
  readonly parameter: Parameter;
  readonly value: Json | undefined;
  /** The node that the parameter belongs to; null for a setting of the document. */
  readonly node: DocumentNode | null;
  /** The path of the value, as in diagnostics: `predicate`, `branches[0].predicate`. */
  readonly path: string;
  /** The diagnostics of the whole parameter. */
  readonly diagnostics: readonly Diagnostic[];
  readonly labelId: string;
  readonly readOnly: boolean;
  /** Sets the value; `undefined` removes the parameter from the document. */
  onChange(value: Json | undefined): void;
  /** Called when the field loses the focus: later changes are another undo step. */
  onDone(): void;
}

export function asText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** An object with one part changed, or removed if undefined. */
export function withPart(value: Json | undefined, name: string, part: Json | undefined): Json {
  const { [name]: _old, ...others } = asObject(value);
  return part === undefined ? others : { ...asObject(value), [name]: part };
}

export function replaced<Item>(items: readonly Item[], index: number, item: Item): Item[] {
  return items.map((old, place) => (place === index ? item : old));
}

export function moved<Item>(items: readonly Item[], index: number, by: number): Item[] {
  const copy = [...items];
  const [item] = copy.splice(index, 1);
  if (item !== undefined) copy.splice(Math.max(0, index + by), 0, item);
  return copy;
}
