import { ActionIcon } from "@mantine/core";
import IconColumns from "@tabler/icons-react/dist/esm/icons/IconColumns3.mjs";
import IconGrip from "@tabler/icons-react/dist/esm/icons/IconGripVertical.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { useDesigner } from "../designer/store";
import { type Phrase, phrase, t } from "../ui/i18n";
import {
  columnsOf,
  NARROWEST,
  templateOf,
  useInputColumns,
  WIDEST,
  widenKey,
} from "./inputColumns";
import { inOrder, moveTo } from "./ordering";
import {
  type BadCell,
  CLOCK,
  type Column,
  type InputRow,
  linesOf,
  readsPatterns,
  sourcesFor,
  sourcesOf,
} from "./scenario";
import classes from "./simulate.module.css";
import { useSimulation } from "./store";
import { TimeCell } from "./TimeCell";

const TITLES: Readonly<Record<Column, Phrase>> = {
  topic: phrase("Topic"),
  key: phrase("Key"),
  value: phrase("Value"),
  timestamp: phrase("Time"),
  partition: phrase("Partition"),
  headers: phrase("Headers (JSON)"),
};

const ROW = 30;

/** Moves a row to the place of another. */
function move(from: number, to: number) {
  const { rows, setRows } = useSimulation.getState();
  if (from === to || to < 0 || to >= rows.length) return;
  setRows(moveTo(rows, from, to), { label: t("Move of row {n}", { n: from + 1 }) });
}

/** The number of each row in the order of the run. */
function useNumbers(): readonly number[] {
  const rows = useSimulation((state) => state.rows);
  const order = useSimulation((state) => state.order);
  const document = useDesigner((state) => state.document);
  return useMemo(() => {
    const sources = sourcesFor(document, rows);
    const numbers: number[] = [];
    inOrder(linesOf(rows, sources).lines, order, sources).forEach((index, place) => {
      numbers[index] = place + 1;
    });
    return numbers;
  }, [rows, order, document]);
}

/** The edge between key and value, to be dragged or moved with the arrow keys. */
function KeyEdge() {
  const width = useInputColumns((state) => state.key);
  const widthOf = (edge: HTMLElement) => edge.parentElement?.clientWidth ?? NARROWEST;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a splitter is a focusable separator, an <hr> is not
    <span
      className={classes.columnEdge}
      role="separator"
      aria-label={t("Width of the key")}
      aria-orientation="vertical"
      aria-valuenow={width ?? NARROWEST}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      tabIndex={0}
      data-own-keys=""
      onPointerDown={(event) => {
        event.preventDefault();
        const edge = event.currentTarget;
        const [from, before] = [event.clientX, widthOf(edge)];
        edge.setPointerCapture(event.pointerId);
        const move = (moved: PointerEvent) => widenKey(before + moved.clientX - from);
        edge.addEventListener("pointermove", move);
        edge.addEventListener(
          "lostpointercapture",
          () => edge.removeEventListener("pointermove", move),
          { once: true },
        );
      }}
      onDoubleClick={() => useInputColumns.setState({ key: null })}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        widenKey(widthOf(event.currentTarget) + by);
      }}
    />
  );
}

/** The input records, one per row. Invalid cells are marked; rows can be dragged to another place. */
export function InputsTable({ bad }: { bad: readonly BadCell[] }) {
  const rows = useSimulation((state) => state.rows);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const numbers = useNumbers();
  const [dragged, setDragged] = useState<number | null>(null);
  const { key, more } = useInputColumns();
  const columns = useMemo(() => columnsOf(rows, more), [rows, more]);
  const template = templateOf(columns, key);
  const wrong = useMemo(() => new Set(bad.map((each) => `${each.row}/${each.column}`)), [bad]);
  return (
    <div className={`ui-scroll m-scroll`} ref={box} data-testid="simulation-inputs">
      <div
        className={`${classes.inputRow} ${classes.inputHead}`}
        style={{ gridTemplateColumns: template }}
      >
        <span />
        {columns.map((column) => (
          <span
            key={column}
            title={
              column === "timestamp"
                ? t("A date and time in UTC, or epoch milliseconds")
                : t(TITLES[column])
            }
          >
            {column === "headers" ? t("Headers") : t(TITLES[column])}
            {column === "key" ? <KeyEdge /> : null}
          </span>
        ))}
        <ActionIcon
          variant="subtle"
          aria-label={t("Partition and headers")}
          title={t("Partition and headers")}
          aria-pressed={more}
          onClick={() => useInputColumns.setState({ more: !more })}
        >
          <IconColumns size={14} stroke={1.5} />
        </ActionIcon>
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
              number={numbers[item.index] ?? item.index + 1}
              dragged={dragged}
              onDrag={setDragged}
              columns={columns}
              template={template}
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
  /** Its number in the order of the run. */
  number: number;
  start: number;
  /** The index of the row that is being dragged. */
  dragged: number | null;
  onDrag: (index: number | null) => void;
  columns: readonly Column[];
  template: string;
  wrong: (column: Column) => boolean;
}) {
  const { columns, dragged, index, number, onDrag, row, start, template, wrong } = props;
  const [over, setOver] = useState(false);
  const document = useDesigner((state) => state.document);
  const topics = useMemo(
    () => [...new Set(sourcesOf(document).map((each) => each.topic))],
    [document],
  );
  const set = (column: Column, text: string) => {
    const { rows, setRows } = useSimulation.getState();
    setRows(
      rows.map((each) => (each.id === row.id ? { ...each, [column]: text } : each)),
      {
        label: t("{column} of row {n}", { column: t(TITLES[column]), n: index + 1 }),
        gesture: `${row.id} ${column}`,
      },
    );
  };
  const remove = () => {
    const { rows, setRows } = useSimulation.getState();
    const label = t("Removal of row {n}", { n: index + 1 });
    setRows(
      rows.filter((each) => each.id !== row.id),
      { label },
    );
  };
  const moveByKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    move(index, index + (event.key === "ArrowUp" ? -1 : 1));
  };
  const clock = row.topic === CLOCK;
  const known = topics.includes(row.topic) || row.topic === "" ? topics : [...topics, row.topic];
  const label = (column: Column) =>
    t("{column} of record {n}", { column: t(TITLES[column]), n: index + 1 });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a place to drop; the handle moves rows by keys
    <div
      className={classes.inputRow}
      style={{ transform: `translateY(${start}px)`, gridTemplateColumns: template }}
      data-row=""
      data-over={(over && dragged !== null) || undefined}
      onDragOver={(event) => {
        if (dragged === null) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (dragged !== null) move(dragged, index);
        onDrag(null);
      }}
    >
      <button
        type="button"
        className={`${classes.number} ${classes.grip} m-figures`}
        draggable
        aria-label={t("Move row {n}: drag, or press the arrow keys", { n: index + 1 })}
        title={t("Processed as record {n}", { n: number })}
        onDragStart={(event) => {
          event.dataTransfer.effectAllowed = "move";
          event.dataTransfer.setData("text/plain", String(index + 1));
          onDrag(index);
        }}
        onDragEnd={() => onDrag(null)}
        onKeyDown={moveByKey}
      >
        <IconGrip size={12} stroke={1.5} />
        {number}
      </button>
      {clock ? (
        <span className={classes.clock}>{t("Wall clock")}</span>
      ) : readsPatterns(document) ? (
        <input
          aria-label={label("topic")}
          value={row.topic}
          data-wrong={wrong("topic") || undefined}
          spellCheck={false}
          onChange={(event) => set("topic", event.currentTarget.value)}
        />
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
      {columns
        .filter((column) => column !== "topic")
        .map((column) => {
          if (clock && column !== "timestamp") return <span key={column} />;
          const part = column === "key" || column === "value";
          const cell = {
            className: part ? "m-mono" : "m-figures",
            "aria-label": label(column),
            "aria-invalid": wrong(column),
            "data-wrong": wrong(column) || undefined,
            value: row[column],
            placeholder: part ? t("null") : "",
            spellCheck: false,
          };
          return column === "timestamp" && !clock ? (
            <TimeCell key={column} {...cell} onChange={(text) => set(column, text)} />
          ) : (
            <input
              key={column}
              {...cell}
              onChange={(event) => set(column, event.currentTarget.value)}
            />
          );
        })}
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
