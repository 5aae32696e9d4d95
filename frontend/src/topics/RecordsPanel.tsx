import { Button, Loader, Switch } from "@mantine/core";
import IconRefresh from "@tabler/icons-react/dist/esm/icons/IconRefresh.mjs";
import { useMemo, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import type { RawRecord, RecordPart, TopicRecord, TopicUse } from "../api/types";
import { Failed } from "../frame/Failed";
import { Empty, Note } from "../ui";
import { bytes, exact } from "../ui/format";
import { t } from "../ui/i18n";
import pages from "../ui/pages.module.css";
import { Time } from "../ui/Time";
import { QueryForm } from "./QueryForm";
import { RecordDetail } from "./RecordDetail";
import { addressOf, placeOf, type Question, questionOf } from "./records";
import classes from "./topics.module.css";
import { useRecords } from "./useRecords";

/** The records of a topic: the query is in the page's address. */
export function RecordsPanel(props: {
  ws: string;
  topic: string;
  partitions: number;
  uses: readonly TopicUse[];
  paused: boolean;
  onProduce: ((record: RawRecord) => void) | null;
}) {
  const { topic, uses, ws } = props;
  const address = useLocation();
  const navigate = useNavigate();
  const open = new URLSearchParams(address.search).get("record");
  // Opening another record changes the address but not the question.
  const { hash, search } = addressOf(questionOf(address));
  const question = useMemo(() => questionOf({ hash, search }), [hash, search]);
  const [live, setLive] = useState(false);
  const newest = question.start === "latest";
  const found = useRecords(ws, topic, question, live && newest && !props.paused);

  const ask = (next: Question) => void navigate(addressOf(next), { replace: true });
  const show = (record: string | null) => {
    const next = new URLSearchParams(search);
    if (record !== null) next.set("record", record);
    void navigate({ search: next.toString(), hash }, { replace: true });
  };
  return (
    <>
      <QueryForm
        key={`${search}#${hash}`}
        question={question}
        partitions={props.partitions}
        uses={uses}
        onAsk={ask}
        right={
          <>
            <Switch
              label={t("Live")}
              title={newest ? undefined : t("Live records are shown newest first.")}
              checked={live && newest}
              disabled={!newest}
              onChange={(event) => setLive(event.currentTarget.checked)}
              data-testid="live"
            />
            <Button
              variant="subtle"
              leftSection={<IconRefresh size={16} stroke={1.5} />}
              onClick={found.reload}
            >
              {t("Refresh")}
            </Button>
          </>
        }
      />
      {found.error !== null && found.rows.length === 0 ? (
        <Failed error={found.error} retry={found.reload} />
      ) : (
        <div className={classes.records} data-open={open !== null || undefined}>
          <div>
            {found.error === null ? null : <Note tone="failed">{found.error.text}</Note>}
            <Rows rows={found.rows} open={open} onOpen={show} />
            <Foot
              {...found}
              filtered={question.contains !== "" || question.field !== "" || question.where !== ""}
              searching={found.busy && question.where !== ""}
              newest={newest}
            />
          </div>
          {open === null ? null : (
            <RecordDetail
              ws={ws}
              topic={topic}
              place={open}
              question={question}
              uses={uses}
              onProduce={props.onProduce}
              onClose={() => show(null)}
            />
          )}
        </div>
      )}
    </>
  );
}

function Rows(props: {
  rows: readonly TopicRecord[];
  open: string | null;
  onOpen: (place: string) => void;
}) {
  if (props.rows.length === 0) return null;
  return (
    <div className={pages.card}>
      <table className={`${pages.list} ${classes.list}`} data-testid="records">
        <thead>
          <tr>
            <th className={classes.time}>{t("Timestamp")}</th>
            <th className={classes.small}>{t("Partition")}</th>
            <th className={classes.small}>{t("Offset")}</th>
            <th className={classes.key}>{t("Key")}</th>
            <th>{t("Value")}</th>
            <th className={classes.small}>{t("Size")}</th>
          </tr>
        </thead>
        <tbody>
          {props.rows.map((record) => {
            const place = placeOf(record);
            return (
              <tr
                key={place}
                className={pages.row}
                data-place={place}
                data-open={place === props.open || undefined}
              >
                <td className={classes.time}>
                  <button
                    type="button"
                    className={`${pages.rowLink} ${classes.open}`}
                    aria-pressed={place === props.open}
                    onClick={() => props.onOpen(place)}
                  >
                    <Time at={record.timestamp} />
                  </button>
                </td>
                <td className={classes.small}>{record.partition}</td>
                <td className={classes.small}>{exact(record.offset)}</td>
                <td className={classes.key}>
                  <Text part={record.key} />
                </td>
                <td>
                  <Text part={record.value} />
                </td>
                <td
                  className={classes.small}
                  title={t("{n} {n, plural, one {byte} other {bytes}}", { n: exact(record.size) })}
                >
                  {bytes(record.size)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A key or a value on one line. */
function Text({ part }: { part: RecordPart }) {
  if (part.text === null) return <span className={classes.null}>null</span>;
  const hex = part.format === "bytes";
  return (
    <span
      className={classes.text}
      data-format={part.format}
      title={part.error ?? (hex ? t("Bytes as hexadecimal digits") : undefined)}
    >
      {hex ? <span className={classes.null}>0x</span> : null}
      {part.text.slice(0, 300)}
    </span>
  );
}

/** How far the search has come, and a button that continues it. */
function Foot(props: {
  rows: readonly TopicRecord[];
  scanned: number;
  stopped: string | null;
  busy: boolean;
  filtered: boolean;
  searching: boolean;
  newest: boolean;
  more: () => void;
  cancel: () => void;
}) {
  const { busy, filtered, rows, scanned, stopped } = props;
  if (props.searching) {
    return (
      <div className={classes.foot} role="status" data-testid="searching">
        <Loader size={16} />{" "}
        {t("Scanned {n} {n, plural, one {record} other {records}}.", { n: exact(scanned) })}
        <Button variant="default" onClick={props.cancel} data-testid="cancel-search">
          {t("Cancel")}
        </Button>
      </div>
    );
  }
  if (busy && rows.length === 0) {
    return (
      <div className={classes.foot} role="status">
        <Loader size={16} /> {t("Reading…")}
      </div>
    );
  }
  if (stopped === "end" && rows.length === 0) {
    return (
      <Empty title={t("No records")}>
        {filtered
          ? t(
              {
                id: "topics.none_of_records_matches",
                message: "None of {n} {n, plural, one {record} other {records}} matches.",
              },
              { n: exact(scanned) },
            )
          : t("There are no records here, or they have expired.")}
      </Empty>
    );
  }
  return (
    <div className={classes.foot} role="status" data-testid="scanned">
      {filtered
        ? t("Scanned {n} {n, plural, one {record} other {records}}.", { n: exact(scanned) })
        : null}
      {stopped === "end" ? (
        <span>{t("There are no more.")}</span>
      ) : (
        <Button variant="default" loading={busy} onClick={props.more} data-testid="more">
          {stopped !== "full"
            ? t("Continue")
            : props.newest
              ? t("Older records")
              : t("Next records")}
        </Button>
      )}
    </div>
  );
}
