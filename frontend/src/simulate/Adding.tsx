import { Button, Modal, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useDesigner } from "../designer/store";
import { durationText, milliseconds } from "../graph/durations";
import { Note } from "../ui";
import { type Generator, generate, USUAL } from "./generate";
import { type InputRow, rowsOfText, sourcesOf } from "./scenario";
import classes from "./simulate.module.css";
import { useSimulation } from "./store";
import { t } from "./texts";

function Buttons(props: { disabled: boolean; make: () => readonly InputRow[] | null }) {
  const { disabled, make } = props;
  const some = useSimulation((state) => state.rows.length > 0);
  const add = (before: readonly InputRow[]) => {
    const made = make();
    if (made !== null) useSimulation.getState().setRows([...before, ...made]);
  };
  return (
    <div className={classes.dialogButtons}>
      {some ? (
        <Button
          variant="default"
          disabled={disabled}
          onClick={() => add(useSimulation.getState().rows)}
        >
          {t("append")}
        </Button>
      ) : null}
      <Button disabled={disabled} onClick={() => add([])}>
        {some ? t("replace") : t("fillIn")}
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
    <Modal opened onClose={onClose} title={t("pasteTitle")} size="lg">
      <p className={classes.hint}>{t("pasteHint")}</p>
      <Textarea
        aria-label={t("pasteTitle")}
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
      {bad === null ? null : <Note tone="failed">{t("pasteBad", { n: bad })}</Note>}
      <Buttons disabled={text.trim() === ""} make={make} />
    </Modal>
  );
}

const FIELDS = ["count", "keys", "every", "late", "lateBy", "nulls", "seed"] as const;
type Field = (typeof FIELDS)[number];
/** They are typed as durations: `1 minute`. */
const DURATIONS: readonly Field[] = ["every", "lateBy"];
const MOST: Readonly<Record<keyof Generator, number>> = {
  count: 2_000,
  keys: 1_000,
  every: 86_400_000,
  late: 100,
  lateBy: 864_000_000,
  nulls: 100,
  seed: 1_000_000,
};

/** Random records by the schema of a source. */
export function GenerateDialog({ onClose }: { onClose: () => void }) {
  const sources = sourcesOf(useDesigner.getState().document);
  const [settings, setSettings] = useState<Generator>(USUAL);
  const [topic, setTopic] = useState(sources[0]?.topic ?? "");
  const source = sources.find((each) => each.topic === topic);
  const set = (field: Field) => (value: number) =>
    setSettings((before) => ({ ...before, [field]: value }));
  const make = () => {
    if (source === undefined) return null;
    onClose();
    return generate(source, settings);
  };
  return (
    <Modal opened onClose={onClose} title={t("generateTitle")}>
      <div className={classes.form}>
        <Select
          label={t("source")}
          data={[...new Set(sources.map((each) => each.topic))]}
          value={topic}
          allowDeselect={false}
          onChange={(value) => setTopic(value ?? topic)}
        />
        {FIELDS.map((field) =>
          DURATIONS.includes(field) ? (
            <DurationInput
              key={field}
              label={t(field)}
              most={MOST[field]}
              value={settings[field]}
              onChange={set(field)}
            />
          ) : (
            <NumberInput
              key={field}
              label={t(field)}
              value={settings[field]}
              min={field === "count" || field === "keys" ? 1 : 0}
              max={MOST[field]}
              clampBehavior="strict"
              allowDecimal={false}
              onChange={(value) => set(field)(typeof value === "number" ? value : 0)}
            />
          ),
        )}
      </div>
      <Buttons
        disabled={source === undefined || FIELDS.some((field) => Number.isNaN(settings[field]))}
        make={make}
      />
    </Modal>
  );
}

/** A duration as text; NaN while it is none. */
function DurationInput(props: {
  label: string;
  most: number;
  value: number;
  onChange: (value: number) => void;
}) {
  const { label, most, onChange, value } = props;
  const [text, setText] = useState(durationText(value));
  return (
    <TextInput
      label={label}
      value={text}
      error={Number.isNaN(value) ? t("badDuration", { most: durationText(most) }) : null}
      onChange={(event) => {
        setText(event.currentTarget.value);
        const read = milliseconds(event.currentTarget.value);
        onChange(read === null || read < 0 || read > most ? Number.NaN : read);
      }}
    />
  );
}
