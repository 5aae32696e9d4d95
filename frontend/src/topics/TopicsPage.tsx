import { Button } from "@mantine/core";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { listTopicFigures } from "../api/topicCalls";
import type { TopicFigures } from "../api/types";
import { topicAddress } from "../frame/addresses";
import { ListFrame } from "../frame/ListFrame";
import { usePages } from "../frame/paging";
import { Shell } from "../frame/Shell";
import { may, useWorkspace } from "../frame/session";
import { useTitle } from "../frame/useTitle";
import { Empty } from "../ui";
import { count, exact } from "../ui/format";
import { t } from "../ui/i18n";
import pages from "../ui/pages.module.css";
import { ClusterAddress } from "./ClusterAddress";
import { CreateTopicDialog } from "./CreateTopicDialog";
import { GeneratorsList } from "./GeneratorsList";

/** The topics of the cluster that the workspace may use. */
export function TopicsPage() {
  const { ws = "" } = useParams();
  const workspace = useWorkspace(ws);
  const paging = usePages(["topic-figures", ws], (query) => listTopicFigures(ws, query), {
    size: 50,
    inAddress: true,
    refetchInterval: 10_000,
  });
  const [creating, setCreating] = useState(false);
  useTitle(t("Topics"));
  const operator = may(workspace?.role, "operator");
  return (
    <Shell ws={ws}>
      <ListFrame
        title={t("Topics")}
        level={1}
        about={<ClusterAddress ws={ws} />}
        paging={paging}
        search={t("Search topics")}
        actions={
          operator ? (
            <Button
              variant="filled"
              leftSection={<IconPlus size={16} stroke={1.5} />}
              onClick={() => setCreating(true)}
              data-testid="new-topic"
            >
              {t("New topic")}
            </Button>
          ) : null
        }
        none={t("No topic matches “{search}”.", { search: paging.text })}
        empty={
          <Empty title={t("No topics")}>
            {t({
              id: "topics.topics_of_kafka_cluster",
              message: "The topics of the Kafka cluster that this workspace can use appear here.",
            })}
          </Empty>
        }
      >
        {(rows) => <Rows ws={ws} rows={rows} />}
      </ListFrame>
      <GeneratorsList ws={ws} operator={operator} />
      {creating ? <CreateTopicDialog ws={ws} onClose={() => setCreating(false)} /> : null}
    </Shell>
  );
}

function Rows(props: { ws: string; rows: readonly TopicFigures[] }) {
  return (
    <div className={pages.card}>
      <table className={pages.list}>
        <thead>
          <tr>
            <th>{t("Name")}</th>
            <th className={pages.number}>{t("Partitions")}</th>
            <th
              className={pages.number}
              title={t({
                id: "topics.offsets_between_first_and_last",
                message: "Offsets between the first and the last record of each partition",
              })}
            >
              {t("Records")}
            </th>
            <th>{t("Cleanup policy")}</th>
          </tr>
        </thead>
        <tbody>
          {props.rows.map((topic) => (
            <tr key={topic.name} className={pages.row}>
              <td>
                <Link to={topicAddress(props.ws, topic.name)} className={pages.rowLink}>
                  <span className={pages.rowName} title={topic.name}>
                    {topic.name}
                  </span>
                </Link>
              </td>
              <td className={pages.number}>{topic.partitions}</td>
              <td className={pages.number} title={exact(topic.records)}>
                {count(topic.records)}
              </td>
              <td className={pages.faint}>{topic.cleanup_policy}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
