import { memo, useCallback, useMemo } from "react";
import type { Diagnostic } from "../api/types";
import { useDesigner } from "../designer/store";
import type { Parameter } from "../graph/catalog";
import { asObject, type DocumentNode, type Json } from "../graph/document";
import { about, elsewhere } from "../problems/places";
import { Field } from "./Field";
import { isComposite, widgetFor } from "./widgets";
import { asList } from "./widgets/widget";
import { shownParts } from "./widgets/windowParts";

/** The type of an expression, if the compiler's result contains it. */
function useGiven(node: DocumentNode | null, parameter: Parameter): string | null {
  return useDesigner((state) => {
    if (parameter.widget !== "expression" && parameter.widget !== "group_by") return null;
    const expects = parameter.expression?.expects ?? null;
    if (expects !== null) return expects;
    const out = node === null ? undefined : state.result?.ports[node.id]?.out;
    if (out === undefined) return null;
    if (out.key === "?" || out.value === "?") return null;
    if (parameter.name === "key" || parameter.widget === "group_by") {
      const windowed = /^STRUCT<key:\s*(.*),\s*window:/i.exec(out.key);
      return windowed?.[1] ?? out.key;
    }
    return parameter.name === "value" || parameter.name === "joiner" ? out.value : null;
  });
}

/** One parameter of a node or one setting of the document. */
export const ParameterField = memo(function ParameterField(props: {
  parameter: Parameter;
  node: DocumentNode | null;
  value: Json | undefined;
  diagnostics: readonly Diagnostic[];
  onSet: (name: string, value: Json | undefined) => void;
}) {
  const { diagnostics, node, onSet, parameter, value } = props;
  const readOnly = useDesigner((state) => state.readOnly);
  const given = useGiven(node, parameter);
  const mine = useMemo(() => about(diagnostics, parameter.name), [diagnostics, parameter.name]);
  const Widget = widgetFor(parameter.widget);
  const change = useCallback(
    (next: Json | undefined) => onSet(parameter.name, next),
    [onSet, parameter.name],
  );
  const done = useCallback(() => useDesigner.getState().endGesture(), []);
  // A composite widget shows the problems of its parts itself.
  const shown = isComposite(parameter.widget) ? elsewhere(mine, partsOf(parameter, value)) : mine;
  const aside =
    given ??
    (parameter.widget === "number" || parameter.unit == null || parameter.widget === "duration"
      ? null
      : parameter.unit);
  return (
    <Field
      title={parameter.title}
      help={parameter.help}
      required={parameter.required}
      aside={aside === null ? null : <code title={aside}>{aside}</code>}
      diagnostics={shown}
      empty={value === undefined || value === "" || (Array.isArray(value) && value.length === 0)}
      name={parameter.name}
    >
      {(labelId) => (
        <Widget
          parameter={parameter}
          value={value}
          node={node}
          path={parameter.name}
          diagnostics={mine}
          labelId={labelId}
          readOnly={readOnly}
          onChange={change}
          onDone={done}
        />
      )}
    </Field>
  );
});

/** What a format may need besides what it is given. */
const FORMAT_PARTS = ["schema", "registry", "subject", "inner", "window_size", "message"];

/** Paths inside a composite parameter at whose fields its widget shows problems. */
function partsOf({ name, widget }: Parameter, value: Json | undefined): string[] {
  const given = asObject(value);
  const within = (parts: readonly string[]) => parts.map((part) => `${name}.${part}`);
  const eachItem = (parts: readonly string[]) =>
    asList(value).flatMap((_item, index) => parts.map((part) => `${name}[${index}]${part}`));
  switch (widget) {
    case "window":
      return within(shownParts(given));
    case "format":
      return within([...FORMAT_PARTS, ...Object.keys(given).filter((part) => part !== "format")]);
    case "modules":
      return within(Object.keys(given));
    case "group_by":
      return within(["key", "value"]);
    case "output_types":
      return within(["key", "value"]);
    case "branches":
      return eachItem([".port", ".predicate"]);
    case "cogroup_inputs":
      return eachItem([".port", ".group_by.key", ".aggregator", ".repartition"]);
    default:
      return eachItem([""]);
  }
}
