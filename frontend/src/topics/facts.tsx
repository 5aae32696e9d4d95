import { useQuery } from "@tanstack/react-query";
import { listGroups } from "../api/topicCalls";
import type { TopicDetail } from "../api/types";
import { Waiting } from "../app/Waiting";
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

const LIST = `${pages.list} ${pages.plain}`;

/** Offsets and replicas of each partition. */
export function Partitions({ detail }: { detail: TopicDetail }) {
  return (
    <div className={pages.card} data-testid="partitions">
      <table className={LIST}>
        <thead>
          <tr>
            <th>{t("Partition")}</th>
            <th className={pages.number}>{t("Earliest offset")}</th>
            <th className={pages.number}>{t("Latest offset")}</th>
            <th className={pages.number}>{t("Records")}</th>
            <th className={pages.number}>{t("Leader")}</th>
            <th>{t("In-sync replicas")}</th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
  );
}

/** Settings, those of the topic itself before those of the broker. */
export function Configuration({ detail }: { detail: TopicDetail }) {
  const settings = [...detail.configuration].sort((a, b) => Number(b.own) - Number(a.own));
  return (
    <div className={pages.card} data-testid="configuration">
      <table className={LIST}>
        <thead>
          <tr>
            <th>{t("Setting")}</th>
            <th>{t("Value")}</th>
            <th>{t("Set by")}</th>
          </tr>
        </thead>
        <tbody>
          {settings.map((each) => (
            <tr key={each.name}>
              <td className={each.own ? pages.rowName : undefined}>{each.name}</td>
              <td className={`${classes.mono} ${pages.text}`}>
                {each.sensitive ? "••••••" : each.value}
              </td>
              <td className={pages.faint}>{each.own ? t("the topic") : t("the broker")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
          {t("The cluster has more than 200 consumer groups; only the first 200 were queried.")}
        </Note>
      )}
      {groups.length === 0 ? (
        <Empty title={t("No consumer groups")}>
          {t(
            "No consumer group has committed offsets of this topic. Deployments keep their offsets in their checkpoints.",
          )}
        </Empty>
      ) : (
        <div className={pages.card}>
          <table className={LIST}>
            <thead>
              <tr>
                <th>{t("Consumer group")}</th>
                <th>{t("State")}</th>
                <th className={pages.number}>{t("Lag")}</th>
                <th>{t("Committed offsets")}</th>
              </tr>
            </thead>
            <tbody>
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
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
