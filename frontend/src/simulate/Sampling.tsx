import { Select, Switch } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../api/client";
import { sampleTopic } from "../api/topicCalls";
import { useDesigner } from "../designer/store";
import { pathsOf } from "../generate/recipe";
import { NumberField } from "../generate/ShapeForm";
import { useTypes } from "../generate/useTypes";
import { Note } from "../ui";
import { phrase, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { Buttons } from "./Adding";
import { MaskList, type Masks, masksOf } from "./Masks";
import { rowOf, sourcesOf } from "./scenario";
import classes from "./simulate.module.css";
import { TopicSelect } from "./TopicSelect";

/** Adds records of a source's topic as inputs, with masked fields. */
export function SampleDialog({ onClose, ws }: { onClose: () => void; ws: string }) {
  const sources = sourcesOf(useDesigner.getState().document);
  const [topic, setTopic] = useState(sources[0]?.topic ?? "");
  const [count, setCount] = useState(50);
  const [start, setStart] = useState<"latest" | "earliest">("latest");
  const [headers, setHeaders] = useState(false);
  const [masks, setMasks] = useState<Masks>({});
  const [error, setError] = useState<string | null>(null);
  const { problem, target: source } = useTypes(
    ws,
    sources.find((each) => each.topic === topic),
  );
  const paths = source === undefined ? [] : pathsOf({ ...source, timeField: null });
  const chosen = masksOf(paths, masks);
  const make = async () => {
    if (source === undefined) return null;
    setError(null);
    try {
      const found = await sampleTopic(ws, topic, {
        count,
        start,
        headers,
        key: source.key,
        value: source.value,
        masks: chosen,
      });
      if (found.lines.length === 0) {
        setError(
          t(
            found.skipped > 0
              ? phrase({
                  id: "simulate.no_record_could_be_read",
                  message: "No record could be read in this format, so none could be masked.",
                })
              : phrase("The topic {topic} has no records."),
            { topic },
          ),
        );
        return null;
      }
      onClose();
      return found.lines.map((line) => rowOf(line, sources));
    } catch (failure) {
      setError(asApiError(failure).text);
      return null;
    }
  };
  return (
    <Modal opened onClose={onClose} title={t("Records of a topic")} size={560}>
      <div className={classes.form}>
        <TopicSelect label={t("Source")} sources={sources} value={topic} onChange={setTopic} />
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
        {t({
          id: "simulate.masked_values_never_leave",
          message:
            "Masked values never leave the server. Hash replaces a value with another of the same type; equal values get equal hashes.",
        })}
      </p>
      <MaskList paths={paths} masks={masks} onChange={setMasks} />
      {(error ?? problem) === null ? null : <Note tone="failed">{error ?? problem}</Note>}
      <Buttons disabled={source === undefined || problem !== null} make={make} />
    </Modal>
  );
}
