import { Select, Switch, Textarea } from "@mantine/core";
import { DateTimeInput } from "../ui/DateTimeInput";
import { t } from "../ui/i18n";
import { type Beginning, POSITIONS, type Position, problemOf } from "./beginning";

/** Where a deployment with a checkpoint starts, and whether its stores are reset. */
export function BeginningFields(props: {
  value: Beginning;
  /** Whether it runs plain PySpark, which needs empty stores to start from another position. */
  plain: boolean;
  onChange: (value: Beginning) => void;
}) {
  const { value, onChange } = props;
  const empties = (position: Position) => props.plain && position !== "stopped";
  const set = (change: Partial<Beginning>) => {
    const next = { ...value, ...change };
    onChange(empties(next.position) ? { ...next, resets: true } : next);
  };
  const typed = value.position === "time" ? value.time : value.offsets;
  const problem = typed === "" ? null : problemOf(value);
  return (
    <>
      <Select
        label={t("Start from")}
        description={t({
          id: "deployments.global_tables_are_always",
          message:
            "Global tables are always read from the beginning. The offsets are shown before it starts.",
        })}
        value={value.position}
        onChange={(position) => set({ position: position ?? "stopped" })}
        data={POSITIONS.map((each) => ({ ...each, label: t(each.label) }))}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        data-testid="begin-from"
      />
      {value.position === "time" ? (
        <DateTimeInput
          label={t("Time")}
          description={t("The first record with this timestamp or a later one.")}
          value={value.time}
          onChange={(time) => set({ time })}
          error={problem}
        />
      ) : null}
      {value.position === "offsets" ? (
        <Textarea
          label={t("Offsets")}
          description={t("Partitions that are not listed continue where they stopped.")}
          placeholder={"orders 0 1200\norders 1 980"}
          value={value.offsets}
          onChange={(event) => set({ offsets: event.currentTarget.value })}
          error={problem}
          autosize
          minRows={2}
          maxRows={8}
          spellCheck={false}
        />
      ) : null}
      <Switch
        label={t("Reset all stores")}
        description={t({
          id: "deployments.start_with_empty_stores",
          message: "Start with empty stores. The current state is kept for at least a day.",
        })}
        checked={value.resets}
        disabled={empties(value.position)}
        onChange={(event) => set({ resets: event.currentTarget.checked })}
        data-testid="begin-reset"
      />
    </>
  );
}
