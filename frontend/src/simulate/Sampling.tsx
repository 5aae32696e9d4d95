import { Modal, Select, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { ApiError } from "../api/client";
import { sampleTopic } from "../api/topicCalls";
import { useDesigner } from "../designer/store";
import { pathsOf } from "../generate/recipe";
import { NumberField } from "../generate/ShapeForm";
import { Note } from "../ui";
import { type Phrase, phrase, t } from "../ui/i18n";
import { Buttons } from "./Adding";
import { rowOf, sourcesOf } from "./scenario";
import classes from "./simulate.module.css";

type How = "keep" | "hash" | "replace";
interface Mask {
  readonly how: How;
  readonly by: string;
}

const MASKS: readonly { value: How; label: Phrase }[] = [
  { value: "keep", label: phrase("Keep") },
  { value: "hash", label: phrase("Hash") },
  { value: "replace", label: phrase("Replace by") },
];

const KEPT: Mask = { how: "keep", by: "" };

/** The value of a text: JSON where it is some, for numbers and null; the text otherwise. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Records of a source's topic, with masked fields, as inputs. */
export function SampleDialog({ onClose, ws }: { onClose: () => void; ws: string }) {
  const sources = sourcesOf(useDesigner.getState().document);
  const [topic, setTopic] = useState(sources[0]?.topic ?? "");
  const [count, setCount] = useState(50);
  const [start, setStart] = useState<"latest" | "earliest">("latest");
  const [headers, setHeaders] = useState(false);
  const [masks, setMasks] = useState<Readonly<Record<string, Mask>>>({});
  const [error, setError] = useState<string | null>(null);
  const source = sources.find((each) => each.topic === topic);
  const paths =
    source === undefined ? [] : pathsOf({ ...source, timeField: null, topic: source.topic });
  const chosen = paths.flatMap((path) => {
    const mask = masks[path] ?? KEPT;
    if (mask.how === "keep") return [];
    const by = mask.how === "replace" ? { by: readJson(mask.by) } : {};
    return [[path, { how: mask.how, ...by }] as const];
  });
  const make = async () => {
    if (source === undefined) return null;
    setError(null);
    try {
      const found = await sampleTopic(ws, topic, {
        count,
        start,
        headers,
        key_format: source.keyFormat,
        value_format: source.valueFormat,
        masks: Object.fromEntries(chosen),
      });
      if (found.lines.length === 0) {
        setError(
          t(
            found.skipped > 0
              ? phrase("No record could be read in this format, so none could be masked.")
              : phrase("The topic {topic} has no records."),
            { topic },
          ),
        );
        return null;
      }
      onClose();
      return found.lines.map((line) => rowOf(line, sources));
    } catch (failure) {
      const known = failure instanceof ApiError ? failure : new ApiError(0, null);
      setError([known.message, known.hint].filter(Boolean).join(" "));
      return null;
    }
  };
  return (
    <Modal opened onClose={onClose} title={t("Records of a topic")} size={560}>
      <div className={classes.form}>
        <Select
          label={t("Source")}
          data={[...new Set(sources.map((each) => each.topic))]}
          value={topic}
          allowDeselect={false}
          onChange={(value) => setTopic(value ?? topic)}
        />
        <Select
          label={t("Which")}
          data={[
            { value: "latest", label: t("Newest") },
            { value: "earliest", label: t("First") },
          ]}
          value={start}
          allowDeselect={false}
          onChange={(value) => setStart(value === "earliest" ? "earliest" : "latest")}
        />
        <NumberField label={t("Records")} least={1} most={500} value={count} onChange={setCount} />
        <Switch
          size="xs"
          mt={28}
          label={t("With headers")}
          checked={headers}
          onChange={(event) => setHeaders(event.currentTarget.checked)}
        />
      </div>
      <p className={classes.hint}>
        {t(
          "Masked values never leave the server. Hash replaces a value by another of the same type; equal values get equal hashes.",
        )}
      </p>
      <div className={classes.masks} data-testid="masks">
        {paths.map((path) => {
          const mask = masks[path] ?? KEPT;
          const set = (change: Partial<Mask>) =>
            setMasks((before) => ({ ...before, [path]: { ...mask, ...change } }));
          return (
            <div key={path} className={classes.mask}>
              <span className="m-mono">{path}</span>
              <Select
                aria-label={t("Mask of {path}", { path })}
                data={MASKS.map(({ value, label }) => ({ value, label: t(label) }))}
                value={mask.how}
                allowDeselect={false}
                onChange={(how) => set({ how: (how ?? "keep") as How })}
              />
              {mask.how === "replace" ? (
                <TextInput
                  aria-label={t("Instead of {path}", { path })}
                  value={mask.by}
                  classNames={{ input: "m-mono" }}
                  onChange={(event) => set({ by: event.currentTarget.value })}
                />
              ) : (
                <span />
              )}
            </div>
          );
        })}
      </div>
      {error === null ? null : <Note tone="failed">{error}</Note>}
      <Buttons disabled={source === undefined} make={make} />
    </Modal>
  );
}
