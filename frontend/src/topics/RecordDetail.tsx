import { ActionIcon, Button } from "@mantine/core";
import IconCopy from "@tabler/icons-react/dist/esm/icons/IconCopy.mjs";
import IconSend from "@tabler/icons-react/dist/esm/icons/IconSend.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { whenStarted } from "../api/starting";
import { getRecord } from "../api/topicCalls";
import type { RawRecord, RecordPart, TopicUse } from "../api/types";
import { useView } from "../designer/view";
import { notify } from "../frame/notify";
import { Waiting } from "../frame/Waiting";
import { addInput, followLater } from "../simulate/kept";
import { Chip, Note, Segments } from "../ui";
import { exact } from "../ui/format";
import { t } from "../ui/i18n";
import { Time } from "../ui/Time";
import { formatsOf, hexDump, jsonLine, KEY_FORMATS, pretty, type Question } from "./records";
import classes from "./topics.module.css";

/** One complete record, decoded or as bytes. */
export function RecordDetail(props: {
  ws: string;
  topic: string;
  place: string;
  question: Question;
  uses: readonly TopicUse[];
  /** Null for people who may not write records. */
  onProduce: ((record: RawRecord) => void) | null;
  onClose: () => void;
}) {
  const { ws, topic, place, question } = props;
  const [partition = 0, offset = 0] = place.split(":").map(Number);
  const formats = formatsOf(question);
  const found = useQuery({
    queryKey: ["record", ws, topic, place, formats],
    queryFn: ({ signal }) =>
      whenStarted(() => getRecord(ws, topic, partition, offset, formats), { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <aside className={classes.detail} aria-label={t("Record")} data-testid="record">
      <div className={classes.detailHead}>
        <strong>
          {t("Partition {partition}, offset {offset}", { partition, offset: exact(offset) })}
        </strong>
        <ActionIcon aria-label={t("Close")} onClick={props.onClose}>
          <IconX size={16} stroke={1.5} />
        </ActionIcon>
      </div>
      <Waiting query={found} />
      {found.data === undefined ? null : (
        <Content
          ws={ws}
          topic={topic}
          record={found.data}
          uses={props.uses}
          onProduce={props.onProduce}
        />
      )}
    </aside>
  );
}

/** Whether the record's bytes were cut off. */
function isCut({ key, raw_key, raw_value, value }: RawRecord): boolean {
  const isPart = (size: number, raw: string | null) => raw !== null && atob(raw).length < size;
  return isPart(key.size, raw_key) || isPart(value.size, raw_value);
}

function Content(props: {
  ws: string;
  topic: string;
  record: RawRecord;
  uses: readonly TopicUse[];
  onProduce: ((record: RawRecord) => void) | null;
}) {
  const { onProduce, record, topic, uses, ws } = props;
  const navigate = useNavigate();
  const simulate = (use: TopicUse) => {
    addInput(use.topology, topic, record);
    useView.getState().openBottom("simulate");
    void navigate(`/w/${ws}/t/${use.topology}`);
  };
  const followIn = (use: TopicUse, deployment: number) => {
    const { offset, partition } = record;
    followLater({ topology: use.topology, deployment, topic, partition, offset });
    useView.getState().openBottom("simulate");
    void navigate(`/w/${ws}/t/${use.topology}?deployment=${deployment}`);
  };
  const [shown, setShown] = useState<"decoded" | "bytes">("decoded");
  const copy = async () => {
    await navigator.clipboard.writeText(jsonLine(topic, record));
    notify(t("Copied as a line of JSON."));
  };
  return (
    <>
      <div className={classes.detailBar}>
        <Segments
          label={t("Show")}
          value={shown}
          onChange={setShown}
          items={[
            { id: "decoded", title: t("Decoded") },
            { id: "bytes", title: t("Raw bytes") },
          ]}
        />
        <Button
          variant="subtle"
          leftSection={<IconCopy size={16} stroke={1.5} />}
          onClick={() => void copy()}
        >
          {t("Copy as JSON line")}
        </Button>
        {onProduce === null || isCut(record) ? null : (
          <Button
            variant="subtle"
            leftSection={<IconSend size={16} stroke={1.5} />}
            onClick={() => onProduce(record)}
            data-testid="produce-again"
          >
            {t("Produce again…")}
          </Button>
        )}
        {uses
          .filter((use) => use.reads)
          .map((use) => (
            <Button
              key={`${use.topology}:${use.node}`}
              variant="subtle"
              onClick={() => simulate(use)}
              data-testid="simulate-record"
            >
              {t("Simulate in {topology}", { topology: use.name })}
            </Button>
          ))}
        {uses.map((use) =>
          !use.reads || use.deployment === null ? null : (
            <Button
              key={`${use.topology}:${use.node}`}
              variant="subtle"
              title={t("Follow it through the topology, in a simulation")}
              onClick={() => followIn(use, use.deployment ?? 0)}
              data-testid="follow-record"
            >
              {t("Follow it in {topology}", { topology: use.name })}
            </Button>
          ),
        )}
      </div>
      <dl className={classes.facts}>
        <dt>{t("Timestamp")}</dt>
        <dd>
          <Time at={record.timestamp} />{" "}
          <span className={classes.null}>
            {record.log_append_time ? t("set by the broker") : t("set by the producer")}
          </span>
        </dd>
      </dl>
      <Part title={t("Key")} part={record.key} raw={record.raw_key} bytes={shown === "bytes"} />
      <Part
        title={t("Value")}
        part={record.value}
        raw={record.raw_value}
        bytes={shown === "bytes"}
      />
      {record.headers.length === 0 ? null : (
        <section>
          <h3>{t("Headers")}</h3>
          <dl className={classes.facts}>
            {record.headers.map((each, n) => (
              <div key={n}>
                <dt>{each.key}</dt>
                <dd className={classes.mono}>{each.text ?? "null"}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </>
  );
}

function Part(props: { title: string; part: RecordPart; raw: string | null; bytes: boolean }) {
  const { part, raw } = props;
  const format = KEY_FORMATS.find((each) => each.value === part.format);
  const asBytes = props.bytes || part.format === "bytes";
  return (
    <section>
      <h3>
        {props.title} <Chip>{format === undefined ? t("Null") : t(format.label)}</Chip>{" "}
        <small>{t("{n} {n, plural, one {byte} other {bytes}}", { n: exact(part.size) })}</small>
      </h3>
      {part.error === null ? null : <Note tone="degraded">{part.error}</Note>}
      {part.schema_id === null ? null : (
        <Note>
          {t(
            {
              id: "topics.bytes_begin_with_schema",
              message: "The bytes begin with a schema registry header with schema id {id}.",
            },
            {
              id: part.schema_id,
            },
          )}
        </Note>
      )}
      {raw === null ? (
        <pre className={classes.content}>null</pre>
      ) : (
        <pre className={`${classes.content} m-scroll`} data-bytes={asBytes || undefined}>
          {asBytes ? hexDump(raw) : pretty(part)}
        </pre>
      )}
    </section>
  );
}
