/** Widgets for lists: branches, inputs of a cogroup, output ports, names with values. */

import { ActionIcon, TextInput } from "@mantine/core";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { type ReactNode, useState } from "react";
import { freshId } from "../../graph/changes";
import { asObject, type Json } from "../../graph/document";
import { at } from "../../problems/places";
import { t } from "../../ui/i18n";
import { FieldProblems } from "../Field";
import { ExpressionWidget } from "./expression";
import { GroupByWidget } from "./groupBy";
import { PartField } from "./PartField";
import { AddButton, NameInput, Row } from "./rows";
import { asList, asText, moved, replaced, type WidgetProps, withPart } from "./widget";

/** Rows with one port each, which can be added, renamed, moved and removed. */
function PortList<T>(props: {
  widget: WidgetProps;
  items: readonly T[];
  /** The name of an item's port, and its path in the document. */
  portOf: (item: T) => string;
  portPath?: string;
  named: (item: T, port: string) => T;
  created: (port: string) => T;
  /** The name of a new port, without its number. */
  prefix: string;
  addText: string;
  ordered?: boolean;
  /** Prevents removing the last row. */
  atLeastOne?: boolean;
  children?: (item: T, place: string, change: (item: T) => void) => ReactNode;
}) {
  const { addText, children, created, items, named, ordered = false, portOf, prefix } = props;
  const { diagnostics, onChange, onDone, path, readOnly } = props.widget;
  // The parameter determines the type of the items.
  const change = (next: readonly T[]) => onChange(next as never);
  const changeAndEnd = (next: readonly T[]) => {
    change(next);
    onDone();
  };
  return (
    <div className={children === undefined ? "list list-tight" : "list"}>
      {items.map((item, index) => {
        const place = `${path}[${index}]`;
        const wrong = at(diagnostics, `${place}${props.portPath ?? ""}`);
        return (
          <Row
            key={index}
            index={index}
            count={items.length}
            ordered={ordered}
            readOnly={readOnly || (props.atLeastOne === true && items.length === 1)}
            onMove={(by) => changeAndEnd(moved(items, index, by))}
            onRemove={() => changeAndEnd(items.filter((_, other) => other !== index))}
            head={
              <NameInput
                value={portOf(item)}
                label={t("Port")}
                readOnly={readOnly}
                wrong={wrong.length > 0}
                onCommit={(name) => changeAndEnd(replaced(items, index, named(item, name)))}
              />
            }
          >
            <FieldProblems diagnostics={wrong} />
            {children?.(item, place, (next) => change(replaced(items, index, next)))}
          </Row>
        );
      })}
      <AddButton
        text={addText}
        hidden={readOnly}
        onClick={() => {
          const name = freshId(new Set(items.map(portOf)), `${prefix}-${items.length + 1}`);
          changeAndEnd([...items, created(name)]);
        }}
      />
    </div>
  );
}

type Item = ReturnType<typeof asList>[number];

const OBJECTS = {
  portOf: (item: Item) => asText(asObject(item).port),
  portPath: ".port",
  named: (item: Item, port: string) => withPart(item, "port", port),
};

/** Branches in the order in which they are tried: a port and the predicate of its records. */
export function BranchesWidget(props: WidgetProps) {
  return (
    <PortList<Item>
      {...OBJECTS}
      widget={props}
      items={asList(props.value)}
      created={(port) => ({ port, predicate: "" })}
      prefix="branch"
      addText={t("Add a branch")}
      ordered
    >
      {(item, place, change) => (
        <>
          <ExpressionWidget
            {...props}
            value={asObject(item).predicate}
            path={`${place}.predicate`}
            placeholder={t("value.amount > 10")}
            onChange={(text) => change(withPart(item, "predicate", text))}
          />
          <FieldProblems diagnostics={at(props.diagnostics, `${place}.predicate`)} />
        </>
      )}
    </PortList>
  );
}

/** Inputs of a cogroup: a port, its grouping, and its aggregator. */
export function CogroupInputsWidget(props: WidgetProps) {
  return (
    <PortList<Item>
      {...OBJECTS}
      widget={props}
      items={asList(props.value)}
      created={(port) => ({ port, aggregator: "" })}
      prefix="in"
      addText={t("Add an input")}
    >
      {(item, place, change) => (
        <>
          <GroupByWidget
            {...props}
            value={asObject(item).group_by}
            path={`${place}.group_by`}
            port={OBJECTS.portOf(item)}
            keyOnly
            onChange={(part) => change(withPart(item, "group_by", part))}
          />
          <PartField
            title={t("Aggregator")}
            path={`${place}.aggregator`}
            diagnostics={props.diagnostics}
          >
            {(id) => (
              <ExpressionWidget
                {...props}
                labelId={id}
                context="aggregate"
                port={OBJECTS.portOf(item)}
                value={asObject(item).aggregator}
                path={`${place}.aggregator`}
                placeholder="agg + value.amount"
                onChange={(text) => change(withPart(item, "aggregator", text))}
              />
            )}
          </PartField>
          <PartField
            title={t("Repartition topic")}
            path={`${place}.repartition`}
            diagnostics={props.diagnostics}
          >
            {(id) => (
              <TextInput
                aria-labelledby={id}
                value={asText(asObject(item).repartition)}
                placeholder={OBJECTS.portOf(item)}
                readOnly={props.readOnly}
                spellCheck={false}
                classNames={{ input: "m-mono" }}
                onChange={(event) =>
                  change(withPart(item, "repartition", event.currentTarget.value || undefined))
                }
                onBlur={props.onDone}
              />
            )}
          </PartField>
        </>
      )}
    </PortList>
  );
}

/** Names of output ports. */
export function OutputsWidget(props: WidgetProps) {
  const items = asList(props.value ?? props.parameter.default ?? undefined).map(asText);
  const names = items.length === 0 ? ["out"] : items;
  return (
    <PortList
      widget={props}
      items={names}
      portOf={(name) => name}
      named={(_, name) => name}
      created={(name) => name}
      prefix="out"
      addText={t("Add an output")}
      atLeastOne
    />
  );
}

/** Further input ports of a processor, which are named after the methods that get their records. */
export function MethodsWidget(props: WidgetProps) {
  return (
    <PortList
      widget={props}
      items={asList(props.value).map(asText)}
      portOf={(name) => name}
      named={(_, name) => name}
      created={(name) => name.replaceAll("-", "_")}
      prefix="on_input"
      addText={t("Add an input")}
    />
  );
}

/** Shows a value so that `read` gives it back: text that would be read as JSON is in quotes. */
export function shownArgument(value: Json | undefined): string {
  if (typeof value !== "string") return value === undefined ? "" : JSON.stringify(value);
  return readArgument(value) === value ? value : JSON.stringify(value);
}

/** The value that a person has typed: JSON, or else text. */
export function readArgument(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Arguments of a class: values are JSON, and text needs no quotes. */
export function ArgumentsWidget(props: WidgetProps) {
  return <Pairs {...props} show={shownArgument} read={readArgument} />;
}

/** Names with values, such as a topic's configuration. */
export function KeyValuesWidget(props: WidgetProps) {
  return <Pairs {...props} show={asText} read={(text) => text} />;
}

interface Shown {
  readonly show: (value: Json | undefined) => string;
  readonly read: (text: string) => Json;
}

/** A value as text, which stays as it was typed: `3.0` is not turned into `3` under the cursor. */
function ValueInput(
  props: Shown &
    Pick<WidgetProps, "readOnly" | "onDone" | "value"> & { onChange(value: Json): void },
) {
  const { onChange, onDone, read, readOnly, show, value } = props;
  const [typed, setTyped] = useState(() => show(value));
  const same = JSON.stringify(read(typed)) === JSON.stringify(value);
  return (
    <TextInput
      value={same ? typed : show(value)}
      aria-label={t("Value")}
      placeholder={t("Value")}
      readOnly={readOnly}
      classNames={{ input: "m-mono" }}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onChange(read(event.currentTarget.value));
      }}
      onBlur={onDone}
    />
  );
}

function Pairs(props: WidgetProps & Shown) {
  const { onChange, onDone, read, readOnly, show, value } = props;
  const entries = Object.entries(asObject(value));
  const change = (next: readonly (readonly [string, (typeof entries)[number][1]])[]) =>
    onChange(next.length === 0 ? undefined : Object.fromEntries(next));
  return (
    <div className="list list-tight">
      {entries.map(([name, part], index) => (
        <div className="pair" key={index}>
          <NameInput
            value={name}
            label={t("Name")}
            readOnly={readOnly}
            wrong={false}
            onCommit={(next) => {
              change(replaced(entries, index, [next, part]));
              onDone();
            }}
          />
          <ValueInput
            value={part}
            show={show}
            read={read}
            readOnly={readOnly}
            onChange={(next) => change(replaced(entries, index, [name, next]))}
            onDone={onDone}
          />
          {readOnly ? null : (
            <ActionIcon
              size={22}
              aria-label={t("Remove")}
              onClick={() => {
                change(entries.filter((_, other) => other !== index));
                onDone();
              }}
            >
              <IconX size={13} stroke={1.5} />
            </ActionIcon>
          )}
        </div>
      ))}
      <AddButton
        text={t("Add an entry")}
        hidden={readOnly || entries.some(([name]) => name === "")}
        onClick={() => change([...entries, ["", ""]])}
      />
    </div>
  );
}
