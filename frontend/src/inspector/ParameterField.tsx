import { memo, useCallback, useMemo } from "react";
import type { Diagnostic } from "../api/types";
import { useDesigner } from "../designer/store";
import type { Parameter } from "../graph/catalog";
import type { DocumentNode, Json } from "../graph/document";
import { about, elsewhere } from "../problems/places";
import { Field } from "./Field";
import { isComposite, widgetFor } from "./widgets";

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
  // A composite widget shows the errors of its parts itself.
  const shown = isComposite(parameter.widget)
    ? mine.filter((each) => (each.path ?? each.parameter) === parameter.name)
    : mine;
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
      diagnostics={
        shown.length === 0 && mine.length > 0 ? elsewhere(mine, partsOf(parameter, value)) : shown
      }
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

/** Paths inside a parameter that have a field of their own. */
function partsOf(parameter: Parameter, value: Json | undefined): string[] {
  const name = parameter.name;
  const places: string[] = [];
  const walk = (part: Json | undefined, path: string) => {
    places.push(path);
    if (Array.isArray(part)) {
      for (const [index, item] of part.entries()) walk(item, `${path}[${index}]`);
    } else if (part !== null && typeof part === "object") {
      for (const [key, item] of Object.entries(part)) walk(item, `${path}.${key}`);
    }
  };
  walk(value, name);
  const fixed: Record<string, string[]> = {
    group_by: ["key", "value"],
    output_types: ["key", "value"],
    window: ["type", "size", "advance", "grace", "gap", "difference", "start"],
    format: ["format", "schema"],
  };
  for (const part of fixed[parameter.widget] ?? []) places.push(`${name}.${part}`);
  if (Array.isArray(value)) {
    value.forEach((_item, index) => {
      for (const part of ["port", "predicate", "aggregator", "group_by.key"]) {
        places.push(`${name}[${index}].${part}`);
      }
    });
  }
  return places;
}
