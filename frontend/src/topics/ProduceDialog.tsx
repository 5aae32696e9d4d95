import { Button, Select, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { produceRecord } from "../api/topicCalls";
import type { NewRecord, RawRecord, RecordPart } from "../api/types";
import { notify } from "../app/notify";
import { Note } from "../ui";
import { phrase, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import pages from "../ui/pages.module.css";
import { FORMATS, hexDigits } from "./records";
import { timeText } from "./times";
import classes from "./topics.module.css";

interface Part {
  /** A format's name, or "null". */
  readonly format: string;
  readonly text: string;
}

const PARTS = [
  ...FORMATS.filter((each) => each.value !== "auto"),
  { value: "null", label: phrase("Null") },
];

function newPart(part: Part): NewRecord["value"] {
  return part.format === "null"
    ? null
    : { format: part.format as NonNullable<NewRecord["value"]>["format"], text: part.text };
}

/** A part of a record that was read: its text where that can be written, else its bytes. */
export function partOf(part: RecordPart, raw: string | null): Part {
  if (raw === null) return { format: "null", text: "" };
  const known = PARTS.some((each) => each.value === part.format);
  return known && !part.cut && part.text !== null
    ? { format: part.format, text: part.text }
    : { format: "bytes", text: hexDigits(raw) };
}

/** Headers as they are typed, and the names of those that are no text. */
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

/** Why a part cannot be written; checks JSON only. */
function faultOf(part: Part): string | undefined {
  if (part.format !== "json") return undefined;
  try {
    JSON.parse(part.text);
    return undefined;
  } catch (error) {
    return t("Not valid JSON: {reason}", { reason: error instanceof Error ? error.message : "" });
  }
}

/** `name: text` in each line. */
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
  /** The record to write again. */
  again: RawRecord | null;
  onClose: () => void;
  onWritten: () => void;
}) {
  const { again, ws, topic } = props;
  const [key, setKey] = useState<Part>(
    again === null ? { format: "string", text: "" } : partOf(again.key, again.raw_key),
  );
  const [value, setValue] = useState<Part>(
    again === null ? { format: "json", text: "" } : partOf(again.value, again.raw_value),
  );
  const left = again === null ? { text: "", others: [] } : headersOf(again);
  const [headers, setHeaders] = useState(left.text);
  const [partition, setPartition] = useState(again === null ? "" : String(again.partition));
  const [time, setTime] = useState(
    again === null || again.timestamp < 1 ? "" : timeText(again.timestamp).replace(" ", "T"),
  );
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [checked, setChecked] = useState(false);
  const faultAt = (name: "key" | "value", part: Part) =>
    (checked ? faultOf(part) : undefined) ?? error?.fields[name];

  const write = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (faultOf(key) !== undefined || faultOf(value) !== undefined) return;
    setBusy(true);
    setError(null);
    try {
      const place = await produceRecord(ws, topic, {
        key: newPart(key),
        value: newPart(value),
        headers: newHeaders(headers),
        partition: partition === "" ? null : Number(partition),
        timestamp: time === "" ? null : new Date(time).getTime(),
      });
      notify(t("Written to partition {partition} at offset {offset}.", place));
      props.onWritten();
    } catch (failure) {
      setError(asApiError(failure));
    } finally {
      setBusy(false);
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
          fault={faultAt("key", key)}
        />
        <PartField
          name="value"
          title={t("Value")}
          part={value}
          onChange={setValue}
          fault={faultAt("value", value)}
        />
        <Textarea
          label={t("Headers")}
          description={t("One line each: name: text")}
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
          <TextInput
            type="datetime-local"
            step={again === null ? 1 : 0.001}
            label={t("Timestamp")}
            description={t("Empty: now")}
            inputWrapperOrder={["label", "input", "description", "error"]}
            value={time}
            onChange={(event) => setTime(event.currentTarget.value)}
          />
        </div>
        {error === null || error.fields.key || error.fields.value ? null : (
          <Note tone="failed">{error.text}</Note>
        )}
        <div className="ui-end">
          <Button onClick={props.onClose}>{t("Close")}</Button>
          <Button type="submit" variant="filled" loading={busy} data-testid="write-record">
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
        error={props.fault}
        data-testid={`new-${name}`}
        classNames={{ input: classes.mono ?? "" }}
      />
      <Select
        label={t("Format")}
        aria-label={name === "key" ? t("Format of the key") : t("Format of the value")}
        value={part.format}
        onChange={(format) => onChange({ ...part, format: format ?? part.format })}
        data={PARTS.map((each) => ({ value: each.value, label: t(each.label) }))}
        w={130}
      />
    </div>
  );
}
