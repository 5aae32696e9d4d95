import type { ComponentType } from "react";
import { CodeWidget } from "./code";
import { ExpressionWidget } from "./expression";
import { FormatWidget } from "./format";
import { GroupByWidget } from "./groupBy";
import { BranchesWidget, CogroupInputsWidget, KeyValuesWidget, OutputsWidget } from "./lists";
import { OutputTypesWidget } from "./outputTypes";
import {
  BooleanWidget,
  ChoiceWidget,
  DurationWidget,
  NumberWidget,
  TextWidget,
  TopicsWidget,
  TopicWidget,
  TypeWidget,
} from "./simple";
import type { WidgetProps } from "./widget";
import { WindowWidget } from "./window";

const WIDGETS: Readonly<Record<string, ComponentType<WidgetProps>>> = {
  text: TextWidget,
  number: NumberWidget,
  duration: DurationWidget,
  boolean: BooleanWidget,
  choice: ChoiceWidget,
  topic: TopicWidget,
  topics: TopicsWidget,
  type: TypeWidget,
  expression: ExpressionWidget,
  format: FormatWidget,
  branches: BranchesWidget,
  cogroup_inputs: CogroupInputsWidget,
  outputs: OutputsWidget,
  output_types: OutputTypesWidget,
  key_values: KeyValuesWidget,
  group_by: GroupByWidget,
  window: WindowWidget,
  code: CodeWidget,
};

/** The widget that the catalogue names; plain text for one that this page does not know. */
export function widgetFor(name: string): ComponentType<WidgetProps> {
  return WIDGETS[name] ?? TextWidget;
}

/** Widgets made of fields of their own, which show their errors themselves. */
const COMPOSITE = new Set([
  "format",
  "branches",
  "cogroup_inputs",
  "outputs",
  "output_types",
  "group_by",
  "window",
]);

export function isComposite(name: string): boolean {
  return COMPOSITE.has(name);
}
