import { Button } from "@mantine/core";
import IconDice from "@tabler/icons-react/dist/esm/icons/IconDice3.mjs";
import IconSend from "@tabler/icons-react/dist/esm/icons/IconSend.mjs";
import IconTrash from "@tabler/icons-react/dist/esm/icons/IconTrash.mjs";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useParams } from "react-router";
import { getTopic, topicUses } from "../api/topicCalls";
import type { RawRecord } from "../api/types";
import { Shell } from "../frame/Shell";
import { may, useWorkspace } from "../frame/session";
import { useTitle } from "../frame/useTitle";
import { Waiting } from "../frame/Waiting";
import { Chip, Tabs } from "../ui";
import { count, exact } from "../ui/format";
import { t } from "../ui/i18n";
import pages from "../ui/pages.module.css";
import { ClusterAddress } from "./ClusterAddress";
import { DeleteTopicDialog } from "./DeleteTopicDialog";
import { Configuration, Groups, Partitions } from "./facts";
import { GeneratorsList } from "./GeneratorsList";
import { ProduceDialog } from "./ProduceDialog";
import { RecordsPanel } from "./RecordsPanel";
import { questionOf, readIn } from "./records";
import { StartDialog } from "./StartDialog";
import classes from "./topics.module.css";

type Tab = "records" | "partitions" | "groups" | "configuration";

/** One topic: its records, partitions, consumer groups and configuration. */
export function TopicPage() {
  const { ws = "", topic = "" } = useParams();
  const address = useLocation();
  const role = useWorkspace(ws)?.role;
  const [tab, setTab] = useState<Tab>("records");
  const [dialog, setDialog] = useState<"produce" | "generate" | "delete" | null>(null);
  const [again, setAgain] = useState<RawRecord | null>(null);
  const [written, setWritten] = useState(0);
  useTitle(topic);
  // Do not fetch details of a topic that is being deleted.
  const paused = dialog === "delete";
  const found = useQuery({
    queryKey: ["topic", ws, topic],
    queryFn: () => getTopic(ws, topic),
    refetchInterval: paused ? false : 5_000,
  });
  const uses =
    useQuery({ queryKey: ["uses", ws, topic], queryFn: () => topicUses(ws, topic) }).data?.uses ??
    [];
  const detail = found.data;
  if (detail === undefined) {
    return (
      <Shell ws={ws} wide>
        <h1 className={`${pages.title} ${classes.name}`}>{topic}</h1>
        <Waiting query={found} gone={{ to: `/w/${ws}/topics`, text: t("Go to the topics") }} />
      </Shell>
    );
  }
  return (
    <Shell ws={ws} wide>
      <div className={pages.head}>
        <h1 className={`${pages.title} ${classes.name}`} title={topic}>
          {topic}
        </h1>
        <Chip>
          {t("{n} {n, plural, one {partition} other {partitions}}", {
            n: detail.partitions.length,
          })}
        </Chip>
        <Chip title={exact(detail.records)}>
          {t("{n} {n, plural, one {record} other {records}}", { n: count(detail.records) })}
        </Chip>
        <Chip>{t("Cleanup: {policy}", { policy: detail.cleanup_policy })}</Chip>
        <span className={classes.doing}>
          {may(role, "operator") ? (
            <Button
              leftSection={<IconSend size={16} stroke={1.5} />}
              onClick={() => {
                setAgain(null);
                setDialog("produce");
              }}
              data-testid="produce"
            >
              {t("Produce a record")}
            </Button>
          ) : null}
          {may(role, "operator") ? (
            <Button
              leftSection={<IconDice size={16} stroke={1.5} />}
              onClick={() => setDialog("generate")}
              data-testid="generate"
            >
              {t("Generate…")}
            </Button>
          ) : null}
          {may(role, "admin") ? (
            <Button
              color="red"
              variant="subtle"
              leftSection={<IconTrash size={16} stroke={1.5} />}
              onClick={() => setDialog("delete")}
              data-testid="delete-topic"
            >
              {t("Delete…")}
            </Button>
          ) : null}
        </span>
      </div>
      <GeneratorsList ws={ws} topic={topic} operator={may(role, "operator")} />
      <div className={classes.tabs}>
        <Tabs<Tab>
          idPrefix="topic"
          label={t("Topic")}
          active={tab}
          onChange={setTab}
          items={[
            { id: "records", title: t("Messages") },
            { id: "partitions", title: t("Partitions") },
            { id: "groups", title: t("Consumer groups") },
            { id: "configuration", title: t("Configuration") },
          ]}
        />
      </div>
      <div role="tabpanel" aria-labelledby={`topic-${tab}`}>
        {tab === "records" ? (
          <RecordsPanel
            key={`${topic} ${written}`}
            ws={ws}
            topic={topic}
            partitions={detail.partitions.length}
            uses={uses}
            paused={paused}
            onProduce={
              may(role, "operator")
                ? (record) => {
                    setAgain(record);
                    setDialog("produce");
                  }
                : null
            }
          />
        ) : null}
        {tab === "partitions" ? <Partitions detail={detail} /> : null}
        {tab === "groups" ? <Groups ws={ws} topic={topic} paused={paused} /> : null}
        {tab === "configuration" ? (
          <div className={classes.stack}>
            <ClusterAddress ws={ws} />
            <Configuration detail={detail} />
          </div>
        ) : null}
      </div>
      {dialog === "produce" ? (
        <ProduceDialog
          ws={ws}
          topic={topic}
          partitions={detail.partitions.length}
          formats={readIn(questionOf(address), uses)}
          again={again}
          onClose={() => setDialog(null)}
          onWritten={() => {
            setWritten(written + 1);
            void found.refetch();
          }}
        />
      ) : null}
      {dialog === "generate" ? (
        <StartDialog ws={ws} topic={topic} onClose={() => setDialog(null)} />
      ) : null}
      {dialog === "delete" ? (
        <DeleteTopicDialog ws={ws} topic={detail} onClose={() => setDialog(null)} />
      ) : null}
    </Shell>
  );
}
