import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { listGenerators, stopGenerator } from "../api/topicCalls";
import type { Generator } from "../api/types";
import { CardTable } from "../app/CardTable";
import { notifyError } from "../app/notify";
import { describeCause } from "../problems/prose";
import { topicAddress } from "../topics/records";
import { ago, count, exact, moment } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import pages from "../ui/pages.module.css";
import classes from "./generate.module.css";

const STATES: Readonly<Record<Generator["state"], Phrase>> = {
  running: phrase("Running"),
  done: phrase("Done"),
  stopped: phrase("Stopped"),
  failed: phrase("Failed"),
};

const POLL_MS = 2_000;

/** The generators of a workspace or of one topic; nothing if there are none. */
export function GeneratorsList(props: { ws: string; topic?: string; operator: boolean }) {
  const { operator, topic, ws } = props;
  const [all, setAll] = useState(false);
  const list = useQuery({
    queryKey: ["generators", ws, topic ?? ""],
    queryFn: () => listGenerators(ws, topic ?? ""),
    refetchInterval: POLL_MS,
  });
  const mine = (list.data?.results ?? []).filter(
    (each) => topic === undefined || each.topic === topic,
  );
  const running = mine.filter((each) => each.state === "running" || each.state === "failed");
  if (mine.length === 0) return null;
  const rows = all ? mine : running;
  return (
    <section className={classes.generators} data-testid="generators">
      <h2>{t("Generators")}</h2>
      {rows.length === 0 ? null : (
        <CardTable
          head={[
            t("Topic"),
            t("State"),
            { number: t("Records per second") },
            { number: t("Written") },
            t("Ends"),
            t("Started by"),
            "",
          ]}
        >
          {rows.map((each) => (
            <Row key={each.id} ws={ws} generator={each} operator={operator} />
          ))}
        </CardTable>
      )}
      {mine.length === running.length ? null : (
        <Button variant="subtle" mt={6} onClick={() => setAll(!all)}>
          {all ? t("Hide finished generators") : t("Show finished generators")}
        </Button>
      )}
    </section>
  );
}

function Row(props: { ws: string; generator: Generator; operator: boolean }) {
  const { generator, operator, ws } = props;
  const queries = useQueryClient();
  const stop = useMutation<unknown, Error>({
    mutationFn: () => stopGenerator(generator.id),
    onError: (error) => notifyError(error),
    onSettled: () => queries.invalidateQueries({ queryKey: ["generators", ws] }),
  });
  const running = generator.state === "running";
  return (
    <tr>
      <td>
        <Link to={topicAddress(ws, generator.topic)} className={pages.link}>
          {generator.topic}
        </Link>
      </td>
      <td>
        {t(STATES[generator.state])}
        {generator.problem === null ? null : (
          <div className={classes.problem}>{describeCause(generator.problem)}</div>
        )}
      </td>
      <td className={pages.number}>{exact(generator.rate)}</td>
      <td className={pages.number} title={exact(generator.written)}>
        {count(generator.written)}
        {generator.most === null ? "" : ` / ${count(generator.most)}`}
      </td>
      <td className={pages.faint}>{ending(generator)}</td>
      <td className={pages.faint}>{generator.created_by ?? ""}</td>
      <td className={pages.actions}>
        {running && operator ? (
          <Button
            size="compact-xs"
            loading={stop.isPending}
            onClick={() => stop.mutate()}
            data-testid="stop-generator"
          >
            {t("Stop")}
          </Button>
        ) : null}
      </td>
    </tr>
  );
}

function ending(generator: Generator): string {
  if (generator.ended_at !== null) return ago(generator.ended_at);
  if (generator.ends_at === null) return t("when it is stopped");
  return moment(generator.ends_at);
}
