/** Widgets for lists of things: branches, inputs of a cogroup, output ports, names with values. */

import { ActionIcon, Button, TextInput } from "@mantine/core";
import IconDown from "@tabler/icons-react/dist/esm/icons/IconArrowDown.mjs";
import IconUp from "@tabler/icons-react/dist/esm/icons/IconArrowUp.mjs";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { type ReactNode, useEffect, useState } from "react";
import { freshId } from "../../graph/changes";
import { t } from "../../ui/i18n";
import { FieldProblems } from "../Field";
import { at } from "../problems";
import { ExpressionWidget } from "./expression";
import { GroupByWidget } from "./groupBy";
import { PartField } from "./PartField";
import { asList, asObject, asText, moved, replaced, type WidgetProps, withPart } from "./widget";

/** A name that takes effect when the field is left: edges hang on the names of ports. */
function NameInput(props: {
  value: string;
  label: string;
  readOnly: boolean;
  wrong: boolean;
  onCommit: (name: string) => void;
}) {
  const { label, onCommit, readOnly, value, wrong } = props;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = () => {
    if (text !== value) onCommit(text);
  };
  return (
    <TextInput
      value={text}
      aria-label={label}
      placeholder={label}
      readOnly={readOnly}
      error={wrong}
      spellCheck={false}
      classNames={{ input: "m-mono" }}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit();
      }}
    />
  );
}

function Row(props: {
  head: ReactNode;
  children?: ReactNode;
  index: number;
  count: number;
  ordered: boolean;
  readOnly: boolean;
  onMove: (by: number) => void;
  onRemove: () => void;
}) {
  const { children, count, head, index, onMove, onRemove, ordered, readOnly } = props;
  return (
    <div className="list-row">
      <div className="list-head">
        {ordered ? <span className="list-number m-figures">{index + 1}</span> : null}
        <div className="list-name">{head}</div>
        {readOnly ? null : (
          <span className="list-tools">
            {ordered ? (
              <>
                <ActionIcon
                  size={22}
                  aria-label={t("Move up")}
                  disabled={index === 0}
                  onClick={() => onMove(-1)}
                >
                  <IconUp size={13} stroke={1.5} />
                </ActionIcon>
                <ActionIcon
                  size={22}
                  aria-label={t("Move down")}
                  disabled={index === count - 1}
                  onClick={() => onMove(1)}
                >
                  <IconDown size={13} stroke={1.5} />
                </ActionIcon>
              </>
            ) : null}
            <ActionIcon size={22} aria-label={t("Remove")} onClick={onRemove}>
              <IconX size={13} stroke={1.5} />
            </ActionIcon>
          </span>
        )}
      </div>
      {children}
    </div>
  );
}

function AddButton(props: { text: string; hidden: boolean; onClick: () => void }) {
  if (props.hidden) return null;
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      className="list-add"
      leftSection={<IconPlus size={13} stroke={1.5} />}
      onClick={props.onClick}
    >
      {props.text}
    </Button>
  );
}

/** Branches in the order in which they are tried: a port and what a record must be to go there. */
export function BranchesWidget(props: WidgetProps) {
  const { diagnostics, onChange, onDone, path, readOnly, value } = props;
  const items = asList(value);
  const change = (next: readonly (typeof items)[number][]) => onChange([...next]);
  return (
    <div className="list">
      {items.map((item, index) => {
        const place = `${path}[${index}]`;
        return (
          <Row
            key={index}
            index={index}
            count={items.length}
            ordered
            readOnly={readOnly}
            onMove={(by) => {
              change(moved(items, index, by));
              onDone();
            }}
            onRemove={() => {
              change(items.filter((_, other) => other !== index));
              onDone();
            }}
            head={
              <NameInput
                value={asText(asObject(item).port)}
                label={t("Port")}
                readOnly={readOnly}
                wrong={at(diagnostics, `${place}.port`).length > 0}
                onCommit={(name) => {
                  change(replaced(items, index, withPart(item, "port", name)));
                  onDone();
                }}
              />
            }
          >
            <FieldProblems diagnostics={at(diagnostics, `${place}.port`)} />
            <ExpressionWidget
              {...props}
              value={asObject(item).predicate}
              path={`${place}.predicate`}
              placeholder={t("value.amount > 10")}
              onChange={(text) => change(replaced(items, index, withPart(item, "predicate", text)))}
            />
            <FieldProblems diagnostics={at(diagnostics, `${place}.predicate`)} />
          </Row>
        );
      })}
      <AddButton
        text={t("Add a branch")}
        hidden={readOnly}
        onClick={() => {
          const taken = new Set(items.map((item) => asText(asObject(item).port)));
          change([...items, { port: freshId(taken, `branch-${items.length + 1}`), predicate: "" }]);
          onDone();
        }}
      />
    </div>
  );
}

/** Inputs of a cogroup: a port, what it is grouped by, and how it changes the aggregate. */
export function CogroupInputsWidget(props: WidgetProps) {
  const { diagnostics, onChange, onDone, path, readOnly, value } = props;
  const items = asList(value);
  const change = (next: readonly (typeof items)[number][]) => onChange([...next]);
  return (
    <div className="list">
      {items.map((item, index) => {
        const place = `${path}[${index}]`;
        const port = asText(asObject(item).port);
        return (
          <Row
            key={index}
            index={index}
            count={items.length}
            ordered={false}
            readOnly={readOnly}
            onMove={() => undefined}
            onRemove={() => {
              change(items.filter((_, other) => other !== index));
              onDone();
            }}
            head={
              <NameInput
                value={port}
                label={t("Port")}
                readOnly={readOnly}
                wrong={at(diagnostics, `${place}.port`).length > 0}
                onCommit={(name) => {
                  change(replaced(items, index, withPart(item, "port", name)));
                  onDone();
                }}
              />
            }
          >
            <FieldProblems diagnostics={at(diagnostics, `${place}.port`)} />
            <GroupByWidget
              {...props}
              value={asObject(item).group_by}
              path={`${place}.group_by`}
              port={port}
              keyOnly
              onChange={(part) => change(replaced(items, index, withPart(item, "group_by", part)))}
            />
            <PartField
              title={t("Aggregator")}
              path={`${place}.aggregator`}
              diagnostics={diagnostics}
            >
              {(id) => (
                <ExpressionWidget
                  {...props}
                  labelId={id}
                  context="aggregate"
                  port={port}
                  value={asObject(item).aggregator}
                  path={`${place}.aggregator`}
                  placeholder="agg + value.amount"
                  onChange={(text) =>
                    change(replaced(items, index, withPart(item, "aggregator", text)))
                  }
                />
              )}
            </PartField>
          </Row>
        );
      })}
      <AddButton
        text={t("Add an input")}
        hidden={readOnly}
        onClick={() => {
          const taken = new Set(items.map((item) => asText(asObject(item).port)));
          change([...items, { port: freshId(taken, `in-${items.length + 1}`), aggregator: "" }]);
          onDone();
        }}
      />
    </div>
  );
}

/** Names of output ports. */
export function OutputsWidget(props: WidgetProps) {
  const { diagnostics, onChange, onDone, parameter, path, readOnly, value } = props;
  const items = asList(value ?? parameter.default ?? undefined).map(asText);
  const names = items.length === 0 ? ["out"] : items;
  return (
    <div className="list list-tight">
      {names.map((name, index) => (
        <Row
          key={index}
          index={index}
          count={names.length}
          ordered={false}
          readOnly={readOnly || names.length === 1}
          onMove={() => undefined}
          onRemove={() => {
            onChange(names.filter((_, other) => other !== index));
            onDone();
          }}
          head={
            <NameInput
              value={name}
              label={t("Port")}
              readOnly={readOnly}
              wrong={at(diagnostics, `${path}[${index}]`).length > 0}
              onCommit={(next) => {
                onChange(replaced(names, index, next));
                onDone();
              }}
            />
          }
        >
          <FieldProblems diagnostics={at(diagnostics, `${path}[${index}]`)} />
        </Row>
      ))}
      <AddButton
        text={t("Add an output")}
        hidden={readOnly}
        onClick={() => {
          onChange([...names, freshId(new Set(names), `out-${names.length + 1}`)]);
          onDone();
        }}
      />
    </div>
  );
}

/** Names with values, as a topic's configuration has them. */
export function KeyValuesWidget(props: WidgetProps) {
  const { onChange, onDone, readOnly, value } = props;
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
          <TextInput
            value={asText(part)}
            aria-label={t("Value")}
            placeholder={t("Value")}
            readOnly={readOnly}
            classNames={{ input: "m-mono" }}
            onChange={(event) =>
              change(replaced(entries, index, [name, event.currentTarget.value]))
            }
            onBlur={onDone}
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
