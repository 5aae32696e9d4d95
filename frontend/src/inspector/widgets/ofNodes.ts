/** Widgets that only parameters of nodes use; they are loaded with the form of a node. */

import { addWidgets } from ".";
import { CodeWidget } from "./code";
import { ExpressionWidget } from "./expression";
import { FormatWidget } from "./format";
import { GroupByWidget } from "./groupBy";
import {
  ArgumentsWidget,
  BranchesWidget,
  CogroupInputsWidget,
  KeyValuesWidget,
  MethodsWidget,
  OutputsWidget,
} from "./lists";
import { OutputTypesWidget } from "./outputTypes";
import { WindowWidget } from "./window";

addWidgets({
  expression: ExpressionWidget,
  format: FormatWidget,
  branches: BranchesWidget,
  cogroup_inputs: CogroupInputsWidget,
  outputs: OutputsWidget,
  output_types: OutputTypesWidget,
  key_values: KeyValuesWidget,
  arguments: ArgumentsWidget,
  methods: MethodsWidget,
  group_by: GroupByWidget,
  window: WindowWidget,
  code: CodeWidget,
});
