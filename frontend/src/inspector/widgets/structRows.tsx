/** Structs as rows of fields, beside the text of an expression or schema. */

import { Autocomplete, Button } from "@mantine/core";
import { useId, useState } from "react";
import type { Diagnostic } from "../../api/types";
import { type Rows, readSchema, readStruct } from "../../graph/structs";
import { type SparkType, shortType, writeType } from "../../graph/types";
import { t } from "../../ui/i18n";
import type { Column } from "../columns";
import { ExpressionField } from "./expressionField";
import { AddButton, NameInput, Row } from "./rows";
import { TYPES } from "./simple";

/** The name of a new field that no other one has. */
function freshField({ rows }: Rows): string {
  const names = new Set(rows.map(({ name }) => name));
  let number = rows.length + 1;
  while (names.has(`field_${number}`)) number += 1;
  return `field_${number}`;
}

/** The rows of a text. They stay while a row holds what is not finished, so that the text as a whole cannot be read. */
function useRows(
  text: string,
  read: (text: string) => Rows | null,
  onChange: (text: string) => void,
) {
  const [own, setOwn] = useState<Rows | null>(null);
  const rows = own?.text === text ? own : read(text);
  const change = (next: Rows) => {
    setOwn(next);
    onChange(next.text);
  };
  return { rows, change };
}

/** The diagnostics within a part of a text, which begins at `start`, at their places in that part. */
function within(
  diagnostics: readonly Diagnostic[],
  whole: string,
  start: number,
  text: string,
): Diagnostic[] {
  const from = [...whole.slice(0, start)].length;
  const to = from + [...text].length;
  return diagnostics.flatMap((each) => {
    const { position } = each;
    if (position == null || position.start < from || position.start > to) return [];
    const stop = position.stop == null ? null : Math.min(position.stop, to) - from;
    return [{ ...each, position: { ...position, start: position.start - from, stop } }] as [
      Diagnostic,
    ];
  });
}

interface Common {
  text: string;
  readOnly: boolean;
  onChange: (text: string) => void;
  onDone: () => void;
}

function List(props: {
  rows: Rows;
  readOnly: boolean;
  fresh: string;
  kept?: SparkType | null | undefined;
  onChange: (rows: Rows) => void;
  onDone: () => void;
  /** Buttons beside the one that adds a field. */
  end?: React.ReactNode;
  /** `label`: the id of what names the row. */
  children: (index: number, label: string) => React.ReactNode;
}) {
  const id = useId();
  const { children, end, fresh, kept, onChange, onDone, readOnly, rows } = props;
  const change = (next: Rows) => {
    onChange(next);
    onDone();
  };
  return (
    <div className="list struct-rows">
      {rows.rows.map(({ name }, index) => {
        const type = kept?.fields.find((field) => field.name === name)?.type;
        return (
          <Row
            key={index}
            index={index}
            count={rows.rows.length}
            ordered
            readOnly={readOnly}
            onMove={(by) => change(rows.move(index, by))}
            onRemove={() => change(rows.remove(index))}
            head={
              <span className="struct-name" id={`${id}-${index}`}>
                <NameInput
                  value={name ?? ""}
                  label={t("Field {n}", { n: index + 1 })}
                  readOnly={readOnly}
                  wrong={false}
                  onCommit={(next) => {
                    if (next.trim() !== "") change(rows.rename(index, next.trim()));
                  }}
                />
                {type === undefined ? null : (
                  <code className="m-muted m-cut" title={writeType(type)}>
                    {shortType(type)}
                  </code>
                )}
              </span>
            }
          >
            {children(index, `${id}-${index}`)}
          </Row>
        );
      })}
      <div className="schema-asks">
        <AddButton
          text={t("Add a field")}
          hidden={readOnly}
          onClick={() => change(rows.add(freshField(rows), fresh))}
        />
        {end}
      </div>
    </div>
  );
}

/** An expression as text or, if it is a call of `named_struct` or `struct`, as rows. */
export function StructExpression(
  props: Common & {
    labelId: string;
    columns: readonly Column[];
    diagnostics: readonly Diagnostic[];
    placeholder?: string | undefined;
    /** The type that the expression gives, as far as it is known. */
    type?: SparkType | null | undefined;
    /** Shown as rows from the start. */
    inner?: boolean;
    /** Whether a struct is offered while there is no text. */
    offered?: boolean;
  },
) {
  const {
    diagnostics,
    inner = false,
    offered = false,
    onChange,
    onDone,
    readOnly,
    text,
    type,
  } = props;
  const [asRows, setAsRows] = useState(inner);
  const { change, rows } = useRows(text, readStruct, onChange);
  const shown = asRows && rows !== null;
  const empty = offered && text.trim() === "" && !readOnly;
  const other =
    rows === null && !empty ? null : (
      <Button
        size="compact-xs"
        variant="subtle"
        className="schema-ask"
        onClick={() => {
          if (empty) onChange("named_struct('field_1', NULL)");
          setAsRows(!shown);
        }}
      >
        {shown ? t("As text") : empty ? t("Build a struct") : t("As fields")}
      </Button>
    );
  return (
    <>
      {shown ? (
        <List
          rows={rows}
          readOnly={readOnly}
          fresh="NULL"
          kept={type}
          onChange={change}
          onDone={onDone}
          end={other}
        >
          {(index, label) => {
            const row = rows.rows[index];
            if (row === undefined) return null;
            const { type: kept } = type?.fields.find(({ name }) => name === row.name) ?? {};
            return (
              <StructExpression
                {...props}
                inner
                labelId={`${props.labelId} ${label}`}
                offered={false}
                type={kept}
                text={row.text}
                diagnostics={within(diagnostics, text, rows.starts[index] ?? 0, row.text)}
                onChange={(next) => change(rows.rewrite(index, next))}
              />
            );
          }}
        </List>
      ) : (
        <ExpressionField
          text={text}
          columns={props.columns}
          diagnostics={diagnostics}
          labelId={props.labelId}
          readOnly={readOnly}
          placeholder={props.placeholder}
          onChange={onChange}
          onDone={onDone}
        />
      )}
      {shown ? null : other}
    </>
  );
}

/**
 * The fields of a schema as rows; types that are structs have rows of their own. `otherwise`: for any other schema. `end`:
 * buttons beside the one that adds a field.
 */
export function SchemaRows(props: Common & { otherwise?: React.ReactNode; end?: React.ReactNode }) {
  const { end, onChange, onDone, readOnly, text } = props;
  const { change, rows } = useRows(text, readSchema, onChange);
  if (rows === null) return props.otherwise ?? null;
  return (
    <List
      rows={rows}
      readOnly={readOnly}
      fresh="STRING"
      onChange={change}
      onDone={onDone}
      end={end}
    >
      {(index) => {
        const type = rows.rows[index]?.text ?? "";
        const rewrite = (next: string) => {
          if (next !== type) change(rows.rewrite(index, next));
        };
        return (
          <>
            <Autocomplete
              value={type}
              data={TYPES}
              aria-label={t("Type of field {n}", { n: index + 1 })}
              readOnly={readOnly}
              spellCheck={false}
              classNames={{ input: "m-mono" }}
              maxDropdownHeight={220}
              onChange={rewrite}
              onBlur={onDone}
            />
            {/^\s*STRUCT\s*</i.test(type) ? (
              <SchemaRows
                {...props}
                text={type}
                otherwise={null}
                end={undefined}
                onChange={rewrite}
              />
            ) : null}
          </>
        );
      }}
    </List>
  );
}
