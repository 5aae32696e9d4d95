import { ActionIcon, Button, Loader, Select } from "@mantine/core";
import IconRefresh from "@tabler/icons-react/dist/esm/icons/IconRefresh.mjs";
import { useEffect, useState } from "react";
import type { StateStore, StorePage } from "../api/types";
import { Failed } from "../frame/Failed";
import { Waiting } from "../frame/Waiting";
import { NeverDeployed } from "../live/NeverDeployed";
import { PlainEmpty } from "../live/PlainEmpty";
import { useLive } from "../live/store";
import { useRunsPlain } from "../live/useRunsPlain";
import { Empty, Note } from "../ui";
import { exact, hour, recordTime, streamClock } from "../ui/format";
import { t } from "../ui/i18n";
import { Time } from "../ui/Time";
import { useChosenStore } from "./chosen";
import { EVERYTHING, hasWindows, type StoreQuestion } from "./query";
import { StateFields } from "./StateFields";
import classes from "./stores.module.css";
import { useRows } from "./useRows";
import { useStores } from "./useStores";

/** The rows of a deployment's stores, as of the last committed batch. */
export function StatePanel() {
  const deployment = useLive((state) => state.deployment);
  const { store: chosen } = useChosenStore();
  const plain = useRunsPlain();
  const found = useStores();
  if (deployment === null) {
    return (
      <NeverDeployed>
        {t({
          id: "stores.rows_of_all_stores",
          message:
            "The rows of all stores can be read here, while the topology runs and afterwards.",
        })}
      </NeverDeployed>
    );
  }
  if (plain) {
    return <PlainEmpty>{t("The state of its queries can only be read by Spark.")}</PlainEmpty>;
  }
  if (found.data === undefined) {
    return <Waiting query={found} />;
  }
  const { stores } = found.data;
  const store = stores.find((each) => each.id === chosen) ?? stores[0];
  if (store === undefined) {
    return (
      <Empty title={t("No stores")}>
        {t({
          id: "stores.aggregations_tables_and_processors",
          message:
            "Aggregations, tables and processors with stores keep state. It can be read after the first batch.",
        })}
      </Empty>
    );
  }
  return (
    <div className="ui-panel" data-testid="state">
      <Rows
        key={`${deployment.id} ${store.id}`}
        id={deployment.id}
        store={store}
        stores={stores}
        onGone={found.refetch}
      />
    </div>
  );
}

/** How often the list of stores is fetched while it has one that is gone, in ms. */
const GONE_MS = 2_000;

function Rows(props: {
  id: number;
  store: StateStore;
  stores: readonly StateStore[];
  /** The store is not there: the list is of the version before. */
  onGone: () => unknown;
}) {
  const { onGone, store, stores } = props;
  const [question, setQuestion] = useState<StoreQuestion>(EVERYTHING);
  const { error, more, page, phase, refresh } = useRows(props.id, store, question);
  const gone = error?.status === 404;
  useEffect(() => {
    if (!gone) return;
    onGone();
    const timer = setInterval(onGone, GONE_MS);
    return () => clearInterval(timer);
  }, [gone, onGone]);
  return (
    <>
      <div className="ui-bar">
        <Select
          aria-label={t("Store")}
          value={store.id}
          onChange={(id) => (id === null ? undefined : useChosenStore.setState({ store: id }))}
          data={stores.map((each) => ({ value: each.id, label: each.name }))}
          className={classes.store}
          data-testid="state-store"
        />
        <StateFields store={store} question={question} onAsk={setQuestion} />
        {page === null ? null : <AsOf page={page} />}
        <ActionIcon
          variant="subtle"
          size={28}
          aria-label={t("Refresh")}
          title={t("Refresh")}
          loading={phase === "reading" && page !== null}
          onClick={refresh}
          data-testid="state-refresh"
        >
          <IconRefresh size={16} stroke={1.5} />
        </ActionIcon>
      </div>
      {error === null ? null : error.code === "no_state_yet" ? (
        <Empty title={t("No state yet")}>
          {t({
            id: "stores.stores_can_be_read",
            message: "The stores can be read when the deployment has committed its first batch.",
          })}
        </Empty>
      ) : gone ? (
        <Empty title={t("This store is not there any more")}>
          {t("The list of stores is being updated.")}
        </Empty>
      ) : page === null ? (
        <Failed error={error} retry={refresh} />
      ) : (
        <Note tone="failed">{error.text}</Note>
      )}
      {page === null && error === null ? (
        <div className={classes.wait} role="status">
          <Loader size={16} />
          {phase === "starting"
            ? t({
                id: "stores.process_that_reads_stores",
                message:
                  "The process that reads stores is starting. After a pause this takes a few seconds.",
              })
            : t("Reading…")}
        </div>
      ) : null}
      {page === null ? null : page.rows.length === 0 && page.next === null ? (
        <Empty title={question === EVERYTHING ? t("The store is empty") : t("No rows")}>
          {question === EVERYTHING
            ? t({
                id: "stores.no_batch_has_written",
                message: "No batch has written a row, or all have been deleted or have expired.",
              })
            : t({
                id: "stores.no_row_matches_key",
                message: "No row matches. The key must be exactly the one in the store.",
              })}
        </Empty>
      ) : (
        <div className="ui-scroll">
          <Table store={store} page={page} />
          <div className={classes.foot}>
            {page.next === null ? (
              t("{n} {n, plural, one {row} other {rows}}. There are no more.", {
                n: exact(page.rows.length),
              })
            ) : (
              <Button variant="default" onClick={more} loading={phase === "reading"}>
                {t("Next rows")}
              </Button>
            )}
          </div>
        </div>
      )}
    </>
  );
}

/** The batch as of which the rows are shown, with the tasks' stream times on hover. */
function AsOf({ page }: { page: StorePage }) {
  const times = page.tasks.map((each) => `${each.task}: ${streamClock(each.stream_time)}`);
  return (
    <span
      className={classes.asOf}
      title={[recordTime(page.committed_at), t("Stream time"), ...times].join("\n")}
      data-testid="state-as-of"
    >
      {t("as of batch {n}, {time}", { n: exact(page.batch), time: hour(page.committed_at) })}
    </span>
  );
}

/** Types whose values are short, so that keys get the width. */
const SHORT = /^(BOOLEAN|TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DATE|TIMESTAMP|DECIMAL\(.*\))$/;

function Table({ page, store }: { page: StorePage; store: StateStore }) {
  const windows = hasWindows(store);
  const short = store.values.every((type) => SHORT.test(type));
  const versions = store.kind === "versioned";
  return (
    <table
      className={`ui-table ${classes.table}`}
      data-short={short || undefined}
      data-testid="state-rows"
    >
      <thead>
        <tr>
          <th className={classes.key}>{t("Key")}</th>
          {windows ? <th>{store.kind === "session" ? t("Session") : t("Window")}</th> : null}
          <th className={classes.value}>{t("Value")}</th>
          <th>{versions ? t("Valid from") : t("Timestamp")}</th>
          <th className={classes.task}>{t("Task")}</th>
        </tr>
      </thead>
      <tbody>
        {page.rows.map((row, index) => (
          <tr key={index}>
            <td className={classes.key}>
              <Text part={row.key} />
            </td>
            {windows ? (
              <td>
                {row.window === undefined
                  ? ""
                  : `${recordTime(row.window.start)} – ${row.window.end === null ? "" : recordTime(row.window.end)}`}
              </td>
            ) : null}
            <td className={classes.value}>
              <Text part={row.value} />
            </td>
            <td>{row.timestamp === null ? "–" : <Time at={row.timestamp} />}</td>
            <td className={classes.task}>{row.task}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A key or a value in one line, with the complete text on hover. */
function Text({ part }: { part: { text: string | null; cut: boolean } }) {
  if (part.text === null) return <span className={classes.null}>null</span>;
  if (part.text === "") return <span className={classes.null}>{t("empty text")}</span>;
  return (
    <span className={classes.text} title={part.text.slice(0, 2_000)}>
      {part.text.slice(0, 400)}
      {part.cut || part.text.length > 400 ? "…" : ""}
    </span>
  );
}
