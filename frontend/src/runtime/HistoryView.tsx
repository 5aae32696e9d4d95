import { type ReactNode, useState } from "react";
import { listPlacements } from "../api/deploymentCalls";
import type { Placement } from "../api/types";
import { useRuntime } from "../designer/runtime";
import { Pages, SearchField, usePages } from "../frame/paging";
import { Waiting } from "../frame/Waiting";
import { useNow } from "../live/useNow";
import { Empty, Segments } from "../ui";
import { hour, moment } from "../ui/format";
import { t } from "../ui/i18n";
import { RANGES, type RangeName } from "./charts";
import { barOf, lanesOf, placeName, REASONS } from "./history";
import classes from "./history.module.css";

const SECONDS: Readonly<Record<RangeName, number>> = {
  "15m": 900,
  "1h": 3_600,
  "6h": 21_600,
  "24h": 86_400,
  "7d": 604_800,
  "14d": 1_209_600,
};

/** Where each task ran over time: as bars by executor and thread, and as a list of moves. */
export function HistoryView({ before, deployment }: { before: ReactNode; deployment: number }) {
  const [range, setRange] = useState<RangeName>("1h");
  const now = useNow(5_000);
  const paging = usePages(
    ["placements", deployment, range],
    (query) => listPlacements(deployment, { ...query, range }),
    { size: 200, refetchInterval: 10_000 },
  );
  const { found, list } = paging;
  return (
    <div className={classes.history} data-testid="assignment-history">
      <div className="ui-bar">
        {before}
        <Segments
          label={t("Range")}
          value={range}
          onChange={(next) => {
            setRange(next);
            paging.setPage(1);
          }}
          items={RANGES.map(([id, title]) => ({ id, title: t(title) }))}
        />
        <SearchField
          paging={paging}
          label={t("Search moves")}
          placeholder={t("Task, executor or thread")}
        />
        <span className="ui-space" />
        <Pages paging={paging} inBar />
      </div>
      <Waiting query={list} kept={found !== undefined} />
      {found === undefined ? null : found.results.length === 0 ? (
        <Empty title={t("No moves in this period")}>
          {t({
            id: "runtime.placement_of_tasks_is_recorded",
            message: "The placement of tasks is recorded while the deployment runs.",
          })}
        </Empty>
      ) : (
        <div className={`ui-scroll m-scroll`}>
          <Gantt placements={found.results} begin={now - SECONDS[range] * 1000} end={now} />
          <Moves placements={found.results} />
        </div>
      )}
    </div>
  );
}

function Gantt(props: { placements: readonly Placement[]; begin: number; end: number }) {
  const { begin, end, placements } = props;
  const hovered = useRuntime((state) => state.hoveredTask);
  const setHovered = useRuntime((state) => state.setHoveredTask);
  return (
    <div className={classes.gantt} data-testid="gantt">
      {lanesOf(placements).map((lane) => (
        <div key={lane.key} className={classes.lane} data-first={lane.first}>
          <span className={classes.place} title={lane.place}>
            {lane.first ? lane.place : ""}
          </span>
          <span className={classes.task}>{lane.task}</span>
          <span className={classes.line}>
            {lane.placements.map((each) => {
              const { left, width } = barOf(each, begin, end);
              return (
                <span
                  key={each.id}
                  className={classes.block}
                  data-lit={hovered === each.task}
                  style={{
                    left: `${left}%`,
                    width: `${width}%`,
                    background: `var(--m-area-${Number(each.task.split("_")[0]) % 6})`,
                  }}
                  title={describe(each)}
                  onPointerEnter={() => setHovered(each.task)}
                  onPointerLeave={() => setHovered(null)}
                />
              );
            })}
          </span>
        </div>
      ))}
      <div className={classes.times}>
        <span>{moment(begin)}</span>
        <span>{t("now")}</span>
      </div>
    </div>
  );
}

function describe(each: Placement): string {
  const end = each.until === null ? t("now") : moment(each.until);
  return [
    `${each.task} · ${placeName(each.executor, each.thread)}`,
    `${moment(each.since)} – ${end}`,
    t(REASONS[each.reason]),
  ].join("\n");
}

function Moves({ placements }: { placements: readonly Placement[] }) {
  return (
    <table className={classes.moves} data-testid="moves">
      <thead>
        <tr>
          <th>{t("Time")}</th>
          <th>{t("Task")}</th>
          <th>{t("From")}</th>
          <th>{t("To")}</th>
          <th>{t("Reason")}</th>
        </tr>
      </thead>
      <tbody>
        {placements.map((each) => (
          <tr key={each.id}>
            <td title={moment(each.since)}>{hour(each.since)}</td>
            <td className="m-mono">{each.task}</td>
            <td>
              {each.from_executor === "" ? "–" : placeName(each.from_executor, each.from_thread)}
            </td>
            <td>{placeName(each.executor, each.thread)}</td>
            <td>{t(REASONS[each.reason])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
