import { useQuery } from "@tanstack/react-query";
import { listGroups } from "../api/topicCalls";
import type { TopicDetail } from "../api/types";
import { CardTable } from "../frame/CardTable";
import { Waiting } from "../frame/Waiting";
import { Empty, Note } from "../ui";
import { count, exact } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import pages from "../ui/pages.module.css";
import classes from "./topics.module.css";

/** The states of a consumer group, by Kafka's names. */
const STATES: Readonly<Record<string, Phrase>> = {
  stable: phrase("stable"),
  empty: phrase("empty"),
  preparing_rebalancing: phrase("rebalancing"),
  completing_rebalancing: phrase("rebalancing"),
};

function stateText(state: string): string {
  const known = STATES[state];
  return known === undefined ? state.replaceAll("_", " ") : t(known);
}

/** Offsets and replicas of each partition. */
export function Partitions({ detail }: { detail: TopicDetail }) {
  return (
    <CardTable
      head={[
        t("Partition"),
        { number: t("Earliest offset") },
        { number: t("Latest offset") },
        { number: t("Records") },
        { number: t("Leader") },
        t("In-sync replicas"),
      ]}
      testId="partitions"
    >
      {detail.partitions.map((each) => (
        <tr key={each.partition}>
          <td>{each.partition}</td>
          <td className={pages.number}>{exact(each.earliest)}</td>
          <td className={pages.number}>{exact(each.latest)}</td>
          <td className={pages.number}>{exact(each.latest - each.earliest)}</td>
          <td className={pages.number}>{each.leader ?? t("none")}</td>
          <td>
            {t("{n} of {all}", { n: each.in_sync.length, all: each.replicas.length })}{" "}
            <span className={pages.faint}>{each.in_sync.join(", ")}</span>
          </td>
        </tr>
      ))}
    </CardTable>
  );
}

/** The configuration of a topic: its own settings first, then those of the broker. */
export function Configuration({ detail }: { detail: TopicDetail }) {
  const settings = [...detail.configuration].sort((a, b) => Number(b.own) - Number(a.own));
  return (
    <CardTable head={[t("Setting"), t("Value"), t("Set by")]} testId="configuration">
      {settings.map((each) => (
        <tr key={each.name}>
          <td className={each.own ? pages.rowName : undefined}>{each.name}</td>
          <td className={`${classes.mono} ${pages.text}`}>
            {each.sensitive ? "••••••" : each.value}
          </td>
          <td className={pages.faint}>{each.own ? t("the topic") : t("the broker")}</td>
        </tr>
      ))}
    </CardTable>
  );
}

/** Consumer groups of the topic with their offsets and lag. */
export function Groups(props: { ws: string; topic: string; paused: boolean }) {
  const { ws, topic, paused } = props;
  const found = useQuery({
    queryKey: ["groups", ws, topic],
    queryFn: () => listGroups(ws, topic),
    refetchInterval: paused ? false : 5_000,
  });
  if (found.data === undefined) {
    return <Waiting query={found} />;
  }
  const { groups, complete } = found.data;
  return (
    <div className={classes.stack} data-testid="groups">
      {complete ? null : (
        <Note tone="degraded">
          {t({
            id: "topics.cluster_has_more_than_consumer",
            message:
              "The cluster has more than 200 consumer groups; only the first 200 were queried.",
          })}
        </Note>
      )}
      {groups.length === 0 ? (
        <Empty title={t("No consumer groups")}>
          {t({
            id: "topics.no_consumer_group_has",
            message:
              "No consumer group has committed offsets of this topic. Deployments keep their offsets in their checkpoints.",
          })}
        </Empty>
      ) : (
        <CardTable
          head={[t("Consumer group"), t("State"), { number: t("Lag") }, t("Committed offsets")]}
        >
          {groups.map((each) => (
            <tr key={each.group}>
              <td className={pages.rowName}>{each.group}</td>
              <td>{stateText(each.state)}</td>
              <td className={pages.number} title={exact(each.lag)}>
                {count(each.lag)}
              </td>
              <td>
                <div className={classes.places}>
                  {each.partitions.map((place) => (
                    <span key={place.partition} title={t("Lag {n}", { n: exact(place.lag) })}>
                      {place.partition}: {exact(place.committed)}
                    </span>
                  ))}
                </div>
              </td>
            </tr>
          ))}
        </CardTable>
      )}
    </div>
  );
}
