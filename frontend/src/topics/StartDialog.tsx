import { Button, Select, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../api/client";
import { whenStarted } from "../api/starting";
import { changeGenerator, startGenerator, startGeneratorAgain, topicUses } from "../api/topicCalls";
import type { Generator, TopicUse } from "../api/types";
import { notify } from "../frame/notify";
import classes from "../generate/generate.module.css";
import {
  complete,
  type Format,
  formOf,
  hasSchema,
  needsSchema,
  recipeOf,
  type Shape,
  type Target,
  USUAL,
} from "../generate/recipe";
import { SchemaFields } from "../generate/SchemaFields";
import { DurationInput, NumberField, ShapeForm } from "../generate/ShapeForm";
import { useTypes } from "../generate/useTypes";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { WRITTEN } from "./records";

const OWN = "own";
/** The longest run, in milliseconds. */
const LONGEST = 86_400_000;
const STRING: Format = { format: "string" };

function targetOf(topic: string, use: TopicUse): Target {
  const formatOf = (given: unknown) => (given ?? STRING) as Format;
  return {
    topic,
    key: formatOf(use.key),
    value: formatOf(use.value),
    timeField: use.time_field,
  };
}

/** A new generator's values in the form, or those of one that is edited. */
function initial(topic: string, edited: Generator | undefined) {
  if (edited === undefined) {
    const value: Format = { format: "json", schema: "" };
    return {
      target: { topic, key: STRING, value, timeField: null } as Target,
      shape: { ...USUAL, keys: 10, late: 0 } as Shape,
      ...{ rate: 10, lasting: 3_600_000, most: 0 },
    };
  }
  const { most, rate, seconds } = edited;
  const lasting = seconds === null ? LONGEST : seconds * 1_000;
  return { ...formOf(topic, edited.recipe), rate, lasting, most: most ?? 0 };
}

/**
 * Starts a generator for a topic, in the formats of a topology that uses it or in others. With `edited`, changes that
 * generator, and starts it again.
 */
export function StartDialog(props: {
  ws: string;
  topic: string;
  edited?: Generator;
  onClose: () => void;
}) {
  const { edited, onClose, topic, ws } = props;
  const begin = initial(topic, edited);
  const uses = useQuery({
    queryKey: ["uses", ws, topic],
    queryFn: () => topicUses(ws, topic),
  }).data;
  const [chosen, setChosen] = useState<string | null>(null);
  const [own, setOwn] = useState(begin.target);
  const [shape, setShape] = useState(begin.shape);
  const [rate, setRate] = useState(begin.rate);
  const [lasting, setLasting] = useState(begin.lasting);
  const [most, setMost] = useState(begin.most);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const queries = useQueryClient();
  const list = uses?.uses ?? [];
  const like = chosen ?? (list.length > 0 && edited === undefined ? "0" : OWN);
  const use = list[Number(like)];
  const { problem, target } = useTypes(
    ws,
    like === OWN || use === undefined ? own : targetOf(topic, use),
  );
  const ready =
    problem === null &&
    hasSchema(target.key) &&
    hasSchema(target.value) &&
    complete({ ...shape, lasting });
  const start = async (again: boolean) => {
    setBusy(true);
    setError(null);
    try {
      const settings = {
        recipe: recipeOf(target, shape),
        rate,
        seconds: Math.max(1, Math.round(lasting / 1_000)),
        most: most === 0 ? null : most,
      };
      await whenStarted(async () => {
        if (edited === undefined) return startGenerator(ws, { topic, ...settings });
        await changeGenerator(edited.id, settings);
        return again ? startGeneratorAgain(edited.id) : null;
      });
      if (again) notify(t("Records are being written to {topic}.", { topic }));
      void queries.invalidateQueries({ queryKey: ["generators", ws] });
      onClose();
    } catch (failure) {
      setBusy(false);
      setError(asApiError(failure).text);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${edited === undefined ? t("Generate records") : t("Edit the generator")} · ${topic}`}
      size={560}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start(true);
        }}
      >
        <div className={classes.form}>
          <Select
            label={t("Records as read by")}
            data={[
              ...list.map((each, index) => ({
                value: String(index),
                label: `${each.name} · ${each.node}`,
              })),
              { value: OWN, label: t("Custom formats") },
            ]}
            value={like}
            allowDeselect={false}
            onChange={setChosen}
          />
          <span />
          {like === OWN
            ? (["key", "value"] as const).map((part) => (
                <FormatFields
                  key={part}
                  label={part === "key" ? t("Key") : t("Value")}
                  format={own[part]}
                  onChange={(format) => setOwn({ ...own, [part]: format })}
                />
              ))
            : null}
          {(["key", "value"] as const).map((part) =>
            like === OWN && needsSchema(own[part]) ? (
              <SchemaFields
                key={part}
                part={part}
                format={own[part]}
                onChange={(format) => setOwn({ ...own, [part]: format })}
              />
            ) : null,
          )}
          <NumberField
            label={t("Records per second")}
            least={0.01}
            most={1_000}
            decimals
            value={rate}
            onChange={setRate}
          />
          <DurationInput
            label={t("End after")}
            most={86_400_000}
            value={lasting}
            onChange={setLasting}
          />
          <NumberField
            label={t("End after records (0: no limit)")}
            least={0}
            most={100_000_000}
            value={most}
            onChange={setMost}
          />
        </div>
        <div style={{ marginTop: 8 }}>
          <ShapeForm target={target} shape={shape} onChange={setShape} />
        </div>
        {(error ?? problem) === null ? null : <Note tone="failed">{error ?? problem}</Note>}
        <div className={classes.buttons}>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          {edited === undefined ? null : (
            <Button
              disabled={!ready}
              onClick={() => void start(false)}
              data-testid="save-generator"
            >
              {t("Save")}
            </Button>
          )}
          <Button
            type="submit"
            variant="filled"
            loading={busy}
            disabled={!ready}
            data-testid="start-generator"
          >
            {edited === undefined ? t("Start generating") : t("Save and start")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function FormatFields(props: {
  label: string;
  format: Format;
  onChange: (format: Format) => void;
}) {
  const { format, label, onChange } = props;
  return (
    <div>
      <Select
        label={label}
        data={WRITTEN.map((each) => ({ value: each.value, label: t(each.label) }))}
        value={format.format}
        allowDeselect={false}
        onChange={(name) =>
          onChange(name === "json" ? { format: "json", schema: "" } : { format: name ?? "string" })
        }
      />
      {format.format === "json" ? (
        <TextInput
          mt={6}
          aria-label={`${label}: ${t("Schema, such as item STRING, n INT")}`}
          placeholder={t("Schema, such as item STRING, n INT")}
          value={format.schema ?? ""}
          classNames={{ input: "m-mono" }}
          onChange={(event) => onChange({ format: "json", schema: event.currentTarget.value })}
        />
      ) : null}
    </div>
  );
}
