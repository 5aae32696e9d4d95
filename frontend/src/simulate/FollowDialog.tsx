import { Button, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { useDesigner } from "../designer/store";
import { pathsOf } from "../generate/recipe";
import { NumberField } from "../generate/ShapeForm";
import { useTypes } from "../generate/useTypes";
import { useLive } from "../live/store";
import { useRunsPlain } from "../live/useRunsPlain";
import { Note, Segments } from "../ui";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { type Asked, follow } from "./follow";
import { MaskList, type Masks, masksOf } from "./Masks";
import { sourcesOf } from "./scenario";
import classes from "./simulate.module.css";
import { TopicSelect } from "./TopicSelect";

type By = "key" | "contains" | "place";
type Partitions = NonNullable<Asked["partitions"]>;

/** Opens *Where is my record?*; nothing if no source reads a topic or no exact version is deployed. */
export function FollowButton({ topology, ws }: { topology: number; ws: string }) {
  const [open, setOpen] = useState(false);
  const deployment = useLive((live) => live.deployment?.id ?? null);
  const document = useDesigner((state) => state.document);
  const plain = useRunsPlain();
  if (plain || deployment === null || sourcesOf(document).length === 0) return null;
  return (
    <>
      <Button variant="subtle" onClick={() => setOpen(true)} data-testid="follow">
        {t("Where is my record?")}
      </Button>
      {open ? (
        <FollowDialog
          deployment={deployment}
          topology={topology}
          ws={ws}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

/** Asks which record of the deployment's input to find, and how many records around it to simulate. */
function FollowDialog(props: {
  deployment: number;
  topology: number;
  ws: string;
  onClose: () => void;
}) {
  const { deployment, onClose, topology, ws } = props;
  const sources = sourcesOf(useDesigner.getState().document);
  const [topic, setTopic] = useState(sources[0]?.topic ?? "");
  const [by, setBy] = useState<By>("key");
  const [text, setText] = useState("");
  const [partition, setPartition] = useState(0);
  const [offset, setOffset] = useState(0);
  const [before, setBefore] = useState(500);
  const [after, setAfter] = useState(50);
  const [partitions, setPartitions] = useState<Partitions>("auto");
  const [sameKey, setSameKey] = useState(false);
  const [masking, setMasking] = useState(false);
  const [headers, setHeaders] = useState(true);
  const [masks, setMasks] = useState<Masks>({});
  const { problem, target: source } = useTypes(
    ws,
    sources.find((each) => each.topic === topic),
  );
  const paths = source === undefined ? [] : pathsOf({ ...source, timeField: null });
  const start = () => {
    const record = by === "place" ? { partition, offset } : { [by]: text };
    onClose();
    void follow(ws, topology, deployment, {
      topic,
      ...record,
      before,
      after,
      partitions,
      same_key: sameKey,
      ...(masking ? { headers, masks: masksOf(paths, masks) as never } : {}),
    });
  };
  const incomplete = topic === "" || (by === "contains" && text.trim() === "");
  return (
    <Modal opened onClose={onClose} title={t("Where is my record?")} size={560}>
      <p className={classes.hint}>
        {t({
          id: "simulate.reads_record_and_those",
          message:
            "Reads the record and those around it from the topics, and simulates the deployed version on them. The deployment is not touched.",
        })}
      </p>
      <Segments<By>
        label={t("Find it by")}
        value={by}
        onChange={setBy}
        items={[
          { id: "key", title: t("Key") },
          { id: "contains", title: t("Text in it") },
          { id: "place", title: t("Partition and offset") },
        ]}
      />
      <div className={classes.form}>
        <TopicSelect label={t("Topic")} sources={sources} value={topic} onChange={setTopic} />
        {by === "place" ? (
          <div className={classes.form}>
            <Whole label={t("Partition")} value={partition} onChange={setPartition} />
            <Whole label={t("Offset")} value={offset} onChange={setOffset} />
          </div>
        ) : (
          <TextInput
            data-autofocus
            label={by === "key" ? t("Key of the newest record") : t("Text in key or value")}
            value={text}
            classNames={{ input: "m-mono" }}
            onChange={(event) => setText(event.currentTarget.value)}
            data-testid="follow-text"
          />
        )}
        <NumberField
          label={t("Records before it")}
          least={0}
          most={1_500}
          value={before}
          onChange={setBefore}
        />
        <NumberField
          label={t("Records after it")}
          least={0}
          most={400}
          value={after}
          onChange={setAfter}
        />
        <Select
          label={t("Partitions")}
          data={[
            { value: "auto", label: t("All, if the topology repartitions") },
            { value: "task", label: t("Only that of its task") },
            { value: "all", label: t("All") },
          ]}
          value={partitions}
          allowDeselect={false}
          onChange={(value) => setPartitions((value ?? "auto") as Partitions)}
        />
        <div className={classes.switches}>
          <Switch
            size="xs"
            label={t("Only records with its key")}
            checked={sameKey}
            onChange={(event) => setSameKey(event.currentTarget.checked)}
          />
          <Switch
            size="xs"
            label={t("Mask fields")}
            checked={masking}
            onChange={(event) => setMasking(event.currentTarget.checked)}
          />
          {masking ? (
            <Switch
              size="xs"
              label={t("With headers")}
              checked={headers}
              onChange={(event) => setHeaders(event.currentTarget.checked)}
            />
          ) : null}
        </div>
      </div>
      {masking ? <MaskList paths={paths} masks={masks} onChange={setMasks} /> : null}
      {masking && problem !== null ? <Note tone="failed">{problem}</Note> : null}
      <div className={classes.dialogButtons}>
        <Button disabled={incomplete} onClick={start} data-testid="follow-start">
          {t("Follow it")}
        </Button>
      </div>
    </Modal>
  );
}

function Whole(props: { label: string; value: number; onChange: (value: number) => void }) {
  return (
    <NumberInput
      label={props.label}
      min={0}
      allowDecimal={false}
      value={props.value}
      onChange={(value) => props.onChange(typeof value === "number" ? value : 0)}
    />
  );
}
