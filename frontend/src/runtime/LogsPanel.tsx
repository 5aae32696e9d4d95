import { Button, Select, TextInput } from "@mantine/core";
import IconDownload from "@tabler/icons-react/dist/esm/icons/IconDownload.mjs";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link } from "react-router";
import { getLogs } from "../api/deploymentCalls";
import type { LogLine } from "../api/types";
import { useDesigner } from "../designer/store";
import { MOST_CHARACTERS } from "../frame/searching";
import { Waiting } from "../frame/Waiting";
import { findNode, labelOf } from "../graph/document";
import { NeverDeployed } from "../live/NeverDeployed";
import { useLive } from "../live/store";
import { Empty } from "../ui";
import { save } from "../ui/files";
import { moment } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { useEditing } from "../versions/editing";
import { asText, joined, LEVELS, type Level, levelOf, shown, timeOf } from "./logs";
import { recordLink, recordText } from "./record";
import classes from "./runtime.module.css";

const LEVEL_TITLES: Record<Level, Phrase> = {
  debug: phrase("Everything"),
  info: phrase("Info and above"),
  warning: phrase("Warnings and errors"),
  error: phrase("Errors"),
};

/** The driver's log, live, with filters for node, level and text. */
export function LogsPanel() {
  const deployment = useLive((state) => state.deployment);
  const live = useLive((state) => state.logs);
  const document = useDesigner((state) => state.document);
  const [node, setNode] = useState<string | null>(null);
  const [level, setLevel] = useState<Level>("info");
  const [search, setSearch] = useState("");
  const id = deployment?.id ?? null;
  const fetched = useQuery({
    // The last lines of a run are only in its log file, so fetch again when the state changes.
    queryKey: ["logs", id, deployment?.observed],
    queryFn: () => getLogs(id ?? 0),
    enabled: id !== null,
    staleTime: 0,
    placeholderData: (before) => before,
  });
  const lines = useMemo(
    () => shown(joined(fetched.data?.lines ?? [], live), { node, level, search }),
    [fetched.data, live, node, level, search],
  );
  if (deployment === null) {
    return (
      <NeverDeployed title={t("No logs")}>
        {t("The driver's log appears here once the topology is deployed.")}
      </NeverDeployed>
    );
  }
  return (
    <div className="ui-panel">
      <div className="ui-bar">
        <TextInput
          aria-label={t("Search the logs")}
          placeholder={t("Search")}
          leftSection={<IconSearch size={16} stroke={1.5} />}
          value={search}
          maxLength={MOST_CHARACTERS}
          onChange={(event) => setSearch(event.currentTarget.value)}
          w={200}
        />
        <Select
          aria-label={t("Level")}
          value={level}
          onChange={(value) => setLevel((value ?? "info") as Level)}
          data={LEVELS.map((each) => ({ value: each, label: t(LEVEL_TITLES[each]) }))}
          w={170}
        />
        <Select
          aria-label={t("Node")}
          value={node ?? ""}
          onChange={(value) => setNode(value === "" ? null : value)}
          data={[
            { value: "", label: t("All nodes") },
            ...document.nodes.map((each) => ({ value: each.id, label: labelOf(each) })),
          ]}
          w={170}
        />
        <span className="ui-space" />
        <Button
          variant="subtle"
          leftSection={<IconDownload size={16} stroke={1.5} />}
          disabled={lines.length === 0}
          onClick={() => save(`deployment-${deployment.id}.log`, `${asText(lines)}\n`)}
        >
          {t("Download")}
        </Button>
      </div>
      <Waiting query={fetched} kept={live.length > 0} />
      {!fetched.isPending && !(fetched.isError && live.length === 0) ? (
        lines.length === 0 ? (
          <Empty title={t("Nothing to show")}>
            {search === "" && node === null
              ? t("There are no log lines at this level.")
              : t({
                  id: "runtime.no_line_matches_search",
                  message: "No line matches: search for something else or show more levels.",
                })}
          </Empty>
        ) : (
          <Lines lines={lines} />
        )
      ) : null}
    </div>
  );
}

function Lines({ lines }: { lines: readonly LogLine[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [follow, setFollow] = useState(true);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => 20,
    overscan: 20,
  });
  useEffect(() => {
    if (follow && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [follow, lines.length, rows]);
  return (
    <div className={classes.logBox}>
      <div
        ref={box}
        className={`ui-scroll m-scroll`}
        data-testid="logs"
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
          setFollow(scrollHeight - scrollTop - clientHeight < 24);
        }}
      >
        <div style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map((row) => {
            const line = lines[row.index];
            if (line === undefined) return null;
            return (
              <div
                key={row.key}
                ref={rows.measureElement}
                data-index={row.index}
                className={classes.line}
                data-level={levelOf(line)}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <Line line={line} />
              </div>
            );
          })}
        </div>
      </div>
      {follow ? null : (
        <Button className={classes.follow} onClick={() => setFollow(true)}>
          {t("Follow")}
        </Button>
      )}
    </div>
  );
}

function Line({ line }: { line: LogLine }) {
  const goTo = useDesigner((state) => state.goTo);
  const node = useDesigner((state) =>
    line.node === null ? undefined : findNode(state.document, line.node),
  );
  const record = recordText(line.record);
  const link = recordLink(
    useEditing((state) => state.ws),
    line.record,
  );
  return (
    <>
      <span className={classes.lineTime} title={line.at === null ? undefined : moment(line.at)}>
        {timeOf(line)}
      </span>
      <span className={classes.lineLevel}>{levelOf(line)}</span>
      {line.node === null ? null : (
        <button
          type="button"
          className={classes.lineNode}
          disabled={node === undefined}
          onClick={() => node !== undefined && goTo(node.id)}
        >
          {node === undefined ? line.node : labelOf(node)}
        </button>
      )}
      <span className={classes.lineText}>
        {line.message}
        {record === null ? null : link === null ? (
          <span className={classes.lineRecord}>{record}</span>
        ) : (
          <Link to={link} className={classes.lineRecord} title={t("See the record")}>
            {record}
          </Link>
        )}
      </span>
    </>
  );
}
