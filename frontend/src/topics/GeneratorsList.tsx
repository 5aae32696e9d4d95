import { ActionIcon, Button } from "@mantine/core";
import IconPencil from "@tabler/icons-react/dist/esm/icons/IconPencil.mjs";
import IconTrash from "@tabler/icons-react/dist/esm/icons/IconTrash.mjs";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { describeCause } from "../api/prose";
import {
  deleteGenerator,
  listGenerators,
  startGeneratorAgain,
  stopGenerator,
} from "../api/topicCalls";
import type { Generator } from "../api/types";
import { topicAddress } from "../frame/addresses";
import { CardTable } from "../frame/CardTable";
import { Head, ListFrame } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { usePages } from "../frame/paging";
import classes from "../generate/generate.module.css";
import { Tip } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { ago, count, exact, moment } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import pages from "../ui/pages.module.css";
import { StartDialog } from "./StartDialog";

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
  return topic === undefined ? (
    <OfWorkspace ws={ws} operator={operator} />
  ) : (
    <OfTopic ws={ws} topic={topic} operator={operator} />
  );
}

function OfWorkspace({ ws, operator }: { ws: string; operator: boolean }) {
  const paging = usePages(["generators", ws], (query) => listGenerators(ws, query), {
    size: 10,
    refetchInterval: POLL_MS,
  });
  if ((paging.found?.count ?? 0) === 0 && paging.typed === "") return null;
  return (
    <ListFrame
      title={t("Generators")}
      paging={paging}
      search={t("Search generators")}
      searches={t("Search by topic")}
      none={t("No generator matches.")}
      testId="generators"
    >
      {(rows) => <Rows ws={ws} rows={rows} operator={operator} />}
    </ListFrame>
  );
}

function OfTopic({ ws, topic, operator }: { ws: string; topic: string; operator: boolean }) {
  const [all, setAll] = useState(false);
  const list = useQuery({
    queryKey: ["generators", ws, topic],
    queryFn: () => listGenerators(ws, { search: topic, page_size: 100 }),
    refetchInterval: POLL_MS,
  });
  const mine = (list.data?.results ?? []).filter((each) => each.topic === topic);
  // A stopped one may be started again.
  const open = mine.filter((each) => each.state !== "done");
  if (mine.length === 0) return null;
  const rows = all ? mine : open;
  return (
    <section className={pages.section} data-testid="generators">
      <Head title={t("Generators")} count={rows.length} />
      {rows.length === 0 ? null : <Rows ws={ws} rows={rows} operator={operator} />}
      {mine.length === open.length ? null : (
        <Button variant="subtle" mt={6} onClick={() => setAll(!all)}>
          {all ? t("Hide finished generators") : t("Show finished generators")}
        </Button>
      )}
    </section>
  );
}

function Rows(props: { ws: string; rows: readonly Generator[]; operator: boolean }) {
  return (
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
      {props.rows.map((each) => (
        <Row key={each.id} ws={props.ws} generator={each} operator={props.operator} />
      ))}
    </CardTable>
  );
}

function Row(props: { ws: string; generator: Generator; operator: boolean }) {
  const { generator, operator, ws } = props;
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<"edit" | "delete" | null>(null);
  const act = useMutation<unknown, Error, () => Promise<unknown>>({
    mutationFn: (call) => call(),
    onError: (error) => notifyError(error),
    onSettled: () => queries.invalidateQueries({ queryKey: ["generators", ws] }),
  });
  const close = () => setDialog(null);
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
        {!operator ? null : running ? (
          <Button
            size="compact-xs"
            loading={act.isPending}
            onClick={() => act.mutate(() => stopGenerator(generator.id))}
            data-testid="stop-generator"
          >
            {t("Stop")}
          </Button>
        ) : (
          <>
            <Button
              size="compact-xs"
              loading={act.isPending}
              onClick={() => act.mutate(() => startGeneratorAgain(generator.id))}
              data-testid="start-again"
            >
              {t("Start again")}
            </Button>
            <IconButton label={t("Edit the generator")} onClick={() => setDialog("edit")}>
              <IconPencil size={15} stroke={1.5} />
            </IconButton>
            <IconButton label={t("Delete the generator")} onClick={() => setDialog("delete")}>
              <IconTrash size={15} stroke={1.5} />
            </IconButton>
          </>
        )}
        {dialog === "edit" ? (
          <StartDialog ws={ws} topic={generator.topic} edited={generator} onClose={close} />
        ) : null}
        {dialog === "delete" ? (
          <DeleteGenerator
            generator={generator}
            onDelete={() => {
              close();
              act.mutate(() => deleteGenerator(generator.id));
            }}
            onClose={close}
          />
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

function IconButton(props: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <Tip text={props.label}>
      <ActionIcon variant="subtle" aria-label={props.label} onClick={props.onClick}>
        {props.children}
      </ActionIcon>
    </Tip>
  );
}

function DeleteGenerator(props: {
  generator: Generator;
  onDelete: () => void;
  onClose: () => void;
}) {
  const { topic } = props.generator;
  return (
    <Modal opened onClose={props.onClose} title={t("Delete the generator")} size={420}>
      <p>
        {t(
          {
            id: "topics.generator_of_and_its_settings",
            message:
              "The generator of {topic} and its settings are deleted. Its records stay in the topic.",
          },
          {
            topic,
          },
        )}
      </p>
      <DialogEnd
        onCancel={props.onClose}
        color="red"
        onClick={props.onDelete}
        data-testid="delete-generator"
      >
        {t("Delete")}
      </DialogEnd>
    </Modal>
  );
}
