/** Rows of a list, with a name, and buttons that move, remove and add them. */

import { ActionIcon, Button, TextInput } from "@mantine/core";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { type ReactNode, useEffect, useState } from "react";
import { t } from "../../ui/i18n";
import { MoveButtons } from "./MoveButtons";

/** A name that is applied when the field loses the focus, because edges refer to ports by name. */
export function NameInput(props: {
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

export function Row(props: {
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
            {ordered ? <MoveButtons index={index} count={count} onMove={onMove} /> : null}
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

export function AddButton(props: { text: string; hidden: boolean; onClick: () => void }) {
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
