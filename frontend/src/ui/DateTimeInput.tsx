import { ActionIcon, Menu, TextInput, type TextInputProps } from "@mantine/core";
import IconClock from "@tabler/icons-react/dist/esm/icons/IconClock.mjs";
import { useState } from "react";
import { briefTime, exactTime } from "./format";
import { t } from "./i18n";
import { readTime } from "./readTime";

const MINUTE = 60_000;
const DAY = 86_400_000;

/** The times that are offered, newest first. */
function presets(now: number): readonly (readonly [string, number])[] {
  const today = Math.floor(now / DAY) * DAY;
  return [
    [t("Now"), now],
    [t("15 minutes ago"), now - 15 * MINUTE],
    [t("1 hour ago"), now - 60 * MINUTE],
    [t("24 hours ago"), now - DAY],
    [t("Today, 00:00 UTC"), today],
    [t("Yesterday, 00:00 UTC"), today - DAY],
  ];
}

/**
 * An input for a date and time in UTC. Its value is the text, which `readTime` reads; when it is left, the text becomes the
 * date and time that was understood. `onDone` is called with the text then, and after the choice of a preset.
 */
export function DateTimeInput(
  props: Omit<TextInputProps, "onChange" | "value" | "type"> & {
    value: string;
    onChange: (text: string) => void;
    onDone?: (text: string) => void;
  },
) {
  const { error, onChange, onDone, value, ...rest } = props;
  const [left, setLeft] = useState(false);
  const read = value.trim() === "" ? null : readTime(value);
  const wrong = left && value.trim() !== "" && read === null;
  const done = (text: string) => {
    onChange(text);
    onDone?.(text);
  };
  return (
    <TextInput
      placeholder="2026-01-31 14:00"
      spellCheck={false}
      autoComplete="off"
      {...rest}
      title={read === null ? t("A time in UTC, such as 14:00 or 15 minutes ago") : exactTime(read)}
      value={value}
      error={
        error ?? (wrong ? t("A time such as 2026-01-31 14:00, 14:00 or 15 minutes ago") : null)
      }
      onChange={(event) => {
        setLeft(false);
        onChange(event.currentTarget.value);
      }}
      onBlur={() => {
        setLeft(true);
        done(read === null ? value : briefTime(read));
      }}
      rightSection={
        <Menu position="bottom-end" withinPortal={false}>
          <Menu.Target>
            <ActionIcon size={22} variant="subtle" aria-label={t("Choose a time")}>
              <IconClock size={14} stroke={1.5} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {presets(Date.now()).map(([name, at]) => (
              <Menu.Item key={name} onClick={() => done(briefTime(at))}>
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      }
    />
  );
}
