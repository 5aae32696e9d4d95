import type { ComponentType } from "react";
import {
  BooleanWidget,
  ChoiceWidget,
  DurationWidget,
  NumberWidget,
  TextWidget,
  TypeWidget,
} from "./simple";
import { TopicsWidget, TopicWidget } from "./topics";
import type { WidgetProps } from "./widget";

const WIDGETS: Record<string, ComponentType<WidgetProps>> = {
  text: TextWidget,
  number: NumberWidget,
  duration: DurationWidget,
  boolean: BooleanWidget,
  choice: ChoiceWidget,
  topic: TopicWidget,
  topics: TopicsWidget,
  type: TypeWidget,
};

/** Adds the widgets of a chunk that is fetched later. */
export function addWidgets(more: Readonly<Record<string, ComponentType<WidgetProps>>>): void {
  Object.assign(WIDGETS, more);
}

/** The widget with the name in the catalog; an unknown name gets plain text. */
export function widgetFor(name: string): ComponentType<WidgetProps> {
  return WIDGETS[name] ?? TextWidget;
}

/** Widgets that consist of several fields, which show their errors themselves. */
const COMPOSITE = new Set([
  "format",
  "branches",
  "cogroup_inputs",
  "outputs",
  "output_types",
  "group_by",
  "window",
  "methods",
  "modules",
]);

export function isComposite(name: string): boolean {
  return COMPOSITE.has(name);
}
