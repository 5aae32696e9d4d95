import { Button, Select, Textarea } from "@mantine/core";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { whenStarted } from "../api/starting";
import { produceRecord } from "../api/topicCalls";
import type { NewRecord, RawRecord, RecordPart } from "../api/types";
import { notify } from "../frame/notify";
import { hasSchema, needsSchema } from "../generate/recipe";
import { SchemaFields } from "../generate/SchemaFields";
import { Note } from "../ui";
import { DateTimeInput } from "../ui/DateTimeInput";
import { briefTime } from "../ui/format";
import { phrase, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import pages from "../ui/pages.module.css";
import { readTime } from "../ui/readTime";
import { hexDigits, type PartFormat, pretty, type Question, utf8, WRITTEN } from "./records";
import classes from "./topics.module.css";

interface Part {
  /** A format's name, or "null". */
  readonly format: string;
  readonly text: string;
  readonly schema?: string;
  readonly registry?: string;
  readonly subject?: string;
}

const PARTS = [...WRITTEN, { value: "null", label: phrase("Null") }];

const newPart = (part: Part) =>
  (part.format === "null" ? null : part) as NonNullable<NewRecord["value"]> | null;

/** The bytes of a part as hexadecimal digits, or null. */
const rawPart = (raw: string | null): Part =>
  raw === null ? { format: "null", text: "" } : { format: "bytes", text: hexDigits(raw) };

/** A part of a record to edit: its text, with the schema with which it was read, else its bytes. */
export function partOf(part: RecordPart, raw: string | null, read: PartFormat): Part {
  const { format } = part;
  // A node reads only the JSON fields in its schema; the bytes contain the others, too.
  const text = format === "json" && raw !== null ? utf8(raw) : part.text;
  const written = WRITTEN.some((each) => each.value === format);
  if (raw === null || text === null || part.cut || !written) return rawPart(raw);
  if (!needsSchema(part)) return { format, text };
  return read.format === format && hasSchema(read) ? { ...read, text: pretty(part) } : rawPart(raw);
}

/** Text headers as `name: text` lines, and the names of the other headers. */
export function headersOf(record: RawRecord): { text: string; others: readonly string[] } {
  const isText = ({ format, text }: RecordPart) =>
    (format === "string" || format === "json") && text !== null && !/[\r\n]/.test(text);
  return {
    text: record.headers
      .filter(isText)
      .map(({ key, text }) => `${key}: ${text}`)
      .join("\n"),
    others: record.headers.filter((each) => !isText(each)).map(({ key }) => key),
  };
}

/** Why a part cannot be written. Checks only JSON, in which Avro and Protobuf values are typed as well. */
function faultOf(part: Part): string | undefined {
  if (part.format !== "json" && !needsSchema(part)) return undefined;
  try {
    JSON.parse(part.text);
    return undefined;
  } catch (error) {
    return t("Not valid JSON: {reason}", { reason: error instanceof Error ? error.message : "" });
  }
}

/** A hint about the notation of a part, if its format does not say it. */
function aboutText(part: Part): string | undefined {
  if (part.format === "bytes") return t("Bytes as hexadecimal digits");
  return needsSchema(part) ? t("JSON that fits the schema") : undefined;
}

/** Parses headers, one `name: text` per line. */
function newHeaders(text: string): { key: string; text: string }[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const at = line.indexOf(":");
      return at < 0
        ? { key: line.trim(), text: "" }
        : { key: line.slice(0, at).trim(), text: line.slice(at + 1).trim() };
    });
}

/** Writes one record; stays open for the next one. */
export function ProduceDialog(props: {
  ws: string;
  topic: string;
  partitions: number;
  /** The formats in which records are read, whose Avro or Protobuf schemas are used for writing. */
  formats: Pick<Question, "key" | "value">;
  /** The record to write again. */
  again: RawRecord | null;
  onClose: () => void;
  onWritten: () => void;
}) {
  const { again, formats, ws, topic } = props;
  const begin = (part: "key" | "value", usual: string): Part =>
    needsSchema(formats[part]) ? { ...formats[part], text: "" } : { format: usual, text: "" };
  const [begun] = useState(() => ({
    key: again === null ? begin("key", "string") : partOf(again.key, again.raw_key, formats.key),
    value:
      again === null ? begin("value", "json") : partOf(again.value, again.raw_value, formats.value),
  }));
  const [key, setKey] = useState<Part>(begun.key);
  const [value, setValue] = useState<Part>(begun.value);
  const left = again === null ? { text: "", others: [] } : headersOf(again);
  const [headers, setHeaders] = useState(left.text);
  const [partition, setPartition] = useState(again === null ? "" : String(again.partition));
  const [time, setTime] = useState(
    again === null || again.timestamp < 1 ? "" : briefTime(again.timestamp),
  );
  const [busy, setBusy] = useState(false);
  const [waiting, setWaiting] = useState(false);
  const closed = useRef<AbortController | null>(null);
  useEffect(() => {
    const own = new AbortController();
    closed.current = own;
    return () => own.abort();
  }, []);
  const [error, setError] = useState<ApiError | null>(null);
  const [checked, setChecked] = useState(false);
  // An error with facts is about the schema, so the text next to it may be correct.
  const unfit = error?.data.facts === undefined ? error?.fields : undefined;
  // Unchanged parts are written byte for byte.
  const written = {
    key: again !== null && key === begun.key ? rawPart(again.raw_key) : key,
    value: again !== null && value === begun.value ? rawPart(again.raw_value) : value,
  };
  const faultAt = (name: "key" | "value") =>
    (checked ? faultOf(written[name]) : undefined) ?? unfit?.[name];

  const write = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    const timestamp = time.trim() === "" ? null : readTime(time);
    if (time.trim() !== "" && timestamp === null) return;
    if (faultOf(written.key) !== undefined || faultOf(written.value) !== undefined) return;
    setBusy(true);
    setError(null);
    const record = {
      key: newPart(written.key),
      value: newPart(written.value),
      headers: newHeaders(headers),
      partition: partition === "" ? null : Number(partition),
      timestamp,
    };
    const signal = closed.current?.signal;
    try {
      const place = await whenStarted(() => produceRecord(ws, topic, record), {
        onWait: () => setWaiting(true),
        ...(signal === undefined ? {} : { signal }),
      });
      notify(t("Written to partition {partition} at offset {offset}.", place));
      props.onWritten();
    } catch (failure) {
      setError(asApiError(failure));
    } finally {
      setBusy(false);
      setWaiting(false);
    }
  };

  return (
    <Modal
      opened
      onClose={props.onClose}
      title={again === null ? t("Produce a record") : t("Produce the record again")}
      size={560}
    >
      <form onSubmit={(event) => void write(event)} className={pages.form}>
        <PartField
          name="key"
          title={t("Key")}
          part={key}
          onChange={setKey}
          fault={faultAt("key")}
        />
        <PartField
          name="value"
          title={t("Value")}
          part={value}
          onChange={setValue}
          fault={faultAt("value")}
        />
        <Textarea
          label={t("Headers")}
          description={t("One per line, as “name: text”")}
          value={headers}
          onChange={(event) => setHeaders(event.currentTarget.value)}
          autosize
          minRows={1}
          maxRows={6}
        />
        {left.others.length === 0 ? null : (
          <Note tone="degraded">
            {t("Headers that are not text are left out: {names}", {
              names: left.others.join(", "),
            })}
          </Note>
        )}
        <div className={classes.pair}>
          <Select
            label={t("Partition")}
            value={partition}
            onChange={(next) => setPartition(next ?? "")}
            data={[
              { value: "", label: t("By the key") },
              ...Array.from({ length: props.partitions }, (_, n) => String(n)),
            ]}
          />
          <DateTimeInput
            label={t("Timestamp")}
            description={t("Empty: now")}
            inputWrapperOrder={["label", "input", "description", "error"]}
            value={time}
            onChange={setTime}
          />
        </div>
        {waiting ? (
          <Note>
            {t({
              id: "common.simulator_is_starting_after",
              message: "The simulator is starting. After a pause this takes a few seconds.",
            })}
          </Note>
        ) : null}
        {error === null || unfit?.key || unfit?.value ? null : (
          <Note tone="failed">{error.text}</Note>
        )}
        <div className="ui-end">
          <Button onClick={props.onClose}>{t("Close")}</Button>
          <Button
            type="submit"
            variant="filled"
            loading={busy}
            disabled={!hasSchema(written.key) || !hasSchema(written.value)}
            data-testid="write-record"
          >
            {t("Write")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function PartField(props: {
  name: "key" | "value";
  title: string;
  part: Part;
  onChange: (part: Part) => void;
  fault: string | undefined;
}) {
  const { name, part, title, onChange } = props;
  return (
    <div className={classes.part}>
      <Textarea
        label={title}
        className={classes.partText}
        value={part.format === "null" ? "" : part.text}
        disabled={part.format === "null"}
        onChange={(event) => onChange({ ...part, text: event.currentTarget.value })}
        autosize
        minRows={name === "key" ? 1 : 3}
        maxRows={12}
        description={aboutText(part)}
        error={props.fault}
        data-testid={`new-${name}`}
        classNames={{ input: classes.mono ?? "" }}
      />
      <Select
        label={t("Format")}
        aria-label={name === "key" ? t("Format of the key") : t("Format of the value")}
        value={part.format}
        onChange={(format) => onChange({ format: format ?? part.format, text: part.text })}
        data={PARTS.map((each) => ({ value: each.value, label: t(each.label) }))}
        w={130}
      />
      {needsSchema(part) ? (
        <div className={classes.partSchema}>
          <SchemaFields part={name} format={part} onChange={onChange} />
        </div>
      ) : null}
    </div>
  );
}
