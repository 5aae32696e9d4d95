import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../api/client";
import { generateRecords } from "../api/topicCalls";
import { useDesigner } from "../designer/store";
import { complete, recipeOf, type Shape, USUAL } from "../generate/recipe";
import { DurationInput, NumberField, ShapeForm } from "../generate/ShapeForm";
import { useTypes } from "../generate/useTypes";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { type InputRow, rowOf, rowsOfText, sourcesOf } from "./scenario";
import classes from "./simulate.module.css";
import { useSimulation } from "./store";
import { TopicSelect } from "./TopicSelect";

type Made = readonly InputRow[] | null;

/** Adds what is made to the rows, or puts it in their place. */
export function Buttons(props: { disabled: boolean; make: () => Made | Promise<Made> }) {
  const { disabled, make } = props;
  const [busy, setBusy] = useState(false);
  const some = useSimulation((state) => state.rows.length > 0);
  const add = async (before: readonly InputRow[]) => {
    setBusy(true);
    const made = await make();
    setBusy(false);
    if (made !== null) useSimulation.getState().setRows([...before, ...made]);
  };
  return (
    <div className={classes.dialogButtons}>
      {some ? (
        <Button
          variant="default"
          disabled={disabled}
          onClick={() => void add(useSimulation.getState().rows)}
        >
          {t("Add to the records")}
        </Button>
      ) : null}
      <Button disabled={disabled} loading={busy} onClick={() => void add([])}>
        {some ? t("Replace the records") : t("Add records")}
      </Button>
    </div>
  );
}

/** Records from JSON lines, a JSON array or CSV. */
export function PasteDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [bad, setBad] = useState<string | null>(null);
  const make = () => {
    try {
      const rows = rowsOfText(text, sourcesOf(useDesigner.getState().document));
      onClose();
      return rows;
    } catch (error) {
      setBad(/^\d+$/.test((error as Error).message) ? (error as Error).message : "1");
      return null;
    }
  };
  return (
    <Modal opened onClose={onClose} title={t("Paste records")} size="lg">
      <p className={classes.hint}>
        {t(
          "JSON lines with topic, key, value, timestamp (ms), partition, headers; a JSON array of them; or CSV with these names in its first line.",
        )}
      </p>
      <Textarea
        aria-label={t("Paste records")}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setBad(null);
        }}
        rows={10}
        spellCheck={false}
        classNames={{ input: "m-mono" }}
        data-autofocus
      />
      {bad === null ? null : <Note tone="failed">{t("Line {n} cannot be read.", { n: bad })}</Note>}
      <Buttons disabled={text.trim() === ""} make={make} />
    </Modal>
  );
}

/** Random records by the schema of a source, made by the server's generator. */
export function GenerateDialog({ onClose, ws }: { onClose: () => void; ws: string }) {
  const sources = sourcesOf(useDesigner.getState().document);
  const [shape, setShape] = useState<Shape>(USUAL);
  const [count, setCount] = useState(20);
  const [every, setEvery] = useState(60_000);
  const [topic, setTopic] = useState(sources[0]?.topic ?? "");
  const [error, setError] = useState<string | null>(null);
  const { problem, target: source } = useTypes(
    ws,
    sources.find((each) => each.topic === topic),
  );
  const make = async () => {
    if (source === undefined) return null;
    try {
      const recipe = recipeOf(source, shape);
      const { lines } = await generateRecords(ws, { topic, recipe, count, every });
      onClose();
      return lines.map((line) => rowOf(line, sources));
    } catch (failure) {
      setError(asApiError(failure).text);
      return null;
    }
  };
  return (
    <Modal opened onClose={onClose} title={t("Generate records")} size={520}>
      <div className={classes.form}>
        <TopicSelect label={t("Source")} sources={sources} value={topic} onChange={setTopic} />
        <NumberField
          label={t("Records")}
          least={1}
          most={2_000}
          value={count}
          onChange={setCount}
        />
        <DurationInput label={t("One every")} most={86_400_000} value={every} onChange={setEvery} />
        <span />
      </div>
      <ShapeForm target={source ?? null} shape={shape} onChange={setShape} />
      {(error ?? problem) === null ? null : <Note tone="failed">{error ?? problem}</Note>}
      <Buttons
        disabled={source === undefined || problem !== null || !complete({ ...shape, every })}
        make={make}
      />
    </Modal>
  );
}
