import { ActionIcon } from "@mantine/core";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import { useDesigner } from "../designer/store";
import { type Phrase, phrase, t } from "../ui/i18n";
import { type BadCell, CLOCK, COLUMNS, type Column, type InputRow, sourcesOf } from "./scenario";
import classes from "./simulate.module.css";
import { useSimulation } from "./store";

const TITLES: Readonly<Record<Column, Phrase>> = {
  topic: phrase("Topic"),
  key: phrase("Key"),
  value: phrase("Value"),
  timestamp: phrase("Time (ms or ISO)"),
  partition: phrase("Partition"),
  headers: phrase("Headers (JSON)"),
};

const ROW = 30;

/** The input records, one per row. Invalid cells are marked. */
export function InputsTable({ bad }: { bad: readonly BadCell[] }) {
  const rows = useSimulation((state) => state.rows);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const wrong = useMemo(() => new Set(bad.map((each) => `${each.row}/${each.column}`)), [bad]);
  return (
    <div className={`ui-scroll m-scroll`} ref={box} data-testid="simulation-inputs">
      <div className={`${classes.inputRow} ${classes.inputHead}`}>
        <span />
        {COLUMNS.map((column) => (
          <span key={column} title={t(TITLES[column])}>
            {t(TITLES[column])}
          </span>
        ))}
      </div>
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            <Row
              key={row.id}
              row={row}
              index={item.index}
              start={item.start}
              wrong={(column) => wrong.has(`${item.index}/${column}`)}
            />
          );
        })}
      </div>
    </div>
  );
}

function Row(props: {
  row: InputRow;
  index: number;
  start: number;
  wrong: (column: Column) => boolean;
}) {
  const { index, row, start, wrong } = props;
  const document = useDesigner((state) => state.document);
  const topics = useMemo(
    () => [...new Set(sourcesOf(document).map((each) => each.topic))],
    [document],
  );
  const set = (column: Column, text: string) => {
    const { rows, setRows } = useSimulation.getState();
    setRows(rows.map((each) => (each.id === row.id ? { ...each, [column]: text } : each)));
  };
  const remove = () => {
    const { rows, setRows } = useSimulation.getState();
    setRows(rows.filter((each) => each.id !== row.id));
  };
  const clock = row.topic === CLOCK;
  const known = topics.includes(row.topic) || row.topic === "" ? topics : [...topics, row.topic];
  const label = (column: Column) =>
    t("{column} of record {n}", { column: t(TITLES[column]), n: index + 1 });
  return (
    <div className={classes.inputRow} style={{ transform: `translateY(${start}px)` }} data-row="">
      <span className={`${classes.number} m-figures`}>{index + 1}</span>
      {clock ? (
        <span className={classes.clock}>{t("Wall clock")}</span>
      ) : (
        <select
          aria-label={label("topic")}
          value={row.topic}
          data-wrong={wrong("topic") || undefined}
          onChange={(event) => set("topic", event.currentTarget.value)}
        >
          {row.topic === "" ? <option value="" /> : null}
          {known.map((topic) => (
            <option key={topic}>{topic}</option>
          ))}
        </select>
      )}
      {COLUMNS.filter((column) => column !== "topic").map((column) =>
        clock && column !== "timestamp" ? (
          <span key={column} />
        ) : (
          <input
            key={column}
            className={column === "key" || column === "value" ? "m-mono" : "m-figures"}
            aria-label={label(column)}
            aria-invalid={wrong(column)}
            data-wrong={wrong(column) || undefined}
            value={row[column]}
            placeholder={column === "key" || column === "value" ? t("null") : ""}
            spellCheck={false}
            onChange={(event) => set(column, event.currentTarget.value)}
          />
        ),
      )}
      <ActionIcon
        variant="subtle"
        aria-label={t("Remove record {n}", { n: index + 1 })}
        onClick={remove}
      >
        <IconX size={14} stroke={1.5} />
      </ActionIcon>
    </div>
  );
}
