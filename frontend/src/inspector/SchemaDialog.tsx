import { Button, Textarea } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { asApiError } from "../api/client";
import type { KnownSchema } from "../designer/services";
import { useServices } from "../designer/servicesContext";
import type { DocumentNode } from "../graph/document";
import { readSamples, schemaOf } from "../graph/samples";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { topicsOf } from "./topicsOf";

/** The schemas that other topologies have for a node's topics. Without an answer, there are none to offer. */
function useKnown(node: DocumentNode | null, side: "key" | "value"): readonly KnownSchema[] {
  const services = useServices();
  const [known, setKnown] = useState<readonly KnownSchema[]>([]);
  const topics = topicsOf(node).join(" ");
  useEffect(() => {
    let here = true;
    const asked = topics.split(" ").filter((topic) => topic !== "");
    Promise.all(asked.map((topic) => services.schemas(topic, side))).then(
      (found) => {
        if (here) setKnown(found.flat());
      },
      () => undefined,
    );
    return () => {
      here = false;
    };
  }, [services, side, topics]);
  return known;
}

/** Makes a schema from pasted JSON or records of the node's topic, or takes that of another topology. */
export function SchemaDialog(props: {
  node: DocumentNode | null;
  side: "key" | "value";
  onClose: () => void;
  onChoose: (schema: string) => void;
}) {
  const { node, onChoose, onClose, side } = props;
  const services = useServices();
  const [text, setText] = useState("");
  const [loading, setLoading] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const samples = useMemo(() => readSamples(text), [text]);
  const found = useMemo(() => schemaOf(samples.values), [samples]);
  const known = useKnown(node, side);
  const read = async (topic: string) => {
    setLoading(topic);
    setFailure(null);
    try {
      const records = await services.samples(topic, side);
      if (records.length === 0)
        setFailure(t("The topic {topic} has no records in JSON.", { topic }));
      else setText(records.join("\n"));
    } catch (error) {
      setFailure(asApiError(error).text);
    }
    setLoading(null);
  };
  return (
    <Modal opened onClose={onClose} title={t("Schema from records")} size={620}>
      <div className="schema-topics">
        {topicsOf(node).map((topic) => (
          <Button
            key={topic}
            variant="default"
            loading={loading === topic}
            onClick={() => void read(topic)}
          >
            {t("Read the latest records of {topic}", { topic })}
          </Button>
        ))}
      </div>
      {known.map(({ schema, topology }) => (
        <button
          key={schema}
          type="button"
          className="schema-known"
          data-testid="known-schema"
          onClick={() => {
            onChoose(schema);
            onClose();
          }}
        >
          <span>{t("As in {topology}", { topology })}</span>
          <code className="m-mono m-cut" title={schema}>
            {schema}
          </code>
        </button>
      ))}
      <Textarea
        data-autofocus
        data-testid="samples"
        label={t("Records in JSON")}
        description={t("One record, a list of records, or one record per line")}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autosize
        minRows={6}
        maxRows={12}
        spellCheck={false}
        classNames={{ input: "m-mono" }}
        error={samples.error}
      />
      {failure === null ? null : <Note tone="degraded">{failure}</Note>}
      {found.schema === "" ? null : (
        <>
          <h3 className="schema-title">
            {t("Schema of {n} {n, plural, one {record} other {records}}", { n: found.samples })}
          </h3>
          <pre className="schema-found m-mono" data-testid="schema-found">
            {found.schema}
          </pre>
        </>
      )}
      {found.conflicts.length === 0 ? null : (
        <Note tone="degraded">
          {t(
            {
              id: "inspector.these_fields_have_values",
              message:
                "These fields have values of different types: {fields}. Records that do not fit the first type go to the deserialization handler.",
            },
            {
              fields: found.conflicts.join(", "),
            },
          )}
        </Note>
      )}
      <DialogEnd
        onCancel={onClose}
        disabled={found.schema === ""}
        data-testid="use-schema"
        onClick={() => {
          onChoose(found.schema);
          onClose();
        }}
      >
        {t("Use this schema")}
      </DialogEnd>
    </Modal>
  );
}
