import { ActionIcon, Button } from "@mantine/core";
import IconCopy from "@tabler/icons-react/dist/esm/icons/IconCopy.mjs";
import IconPlayerPause from "@tabler/icons-react/dist/esm/icons/IconPlayerPause.mjs";
import IconPlayerPlay from "@tabler/icons-react/dist/esm/icons/IconPlayerPlay.mjs";
import IconRoute from "@tabler/icons-react/dist/esm/icons/IconRoute.mjs";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { ApiError } from "../api/client";
import { getEdgeRecords } from "../api/deploymentCalls";
import type { EdgeRecord, EdgeRecords } from "../api/types";
import { useRecordsView } from "../designer/recordsView";
import { edgeFigures, edgeWithRecords, useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { recordAddress } from "../frame/addresses";
import { Failed } from "../frame/Failed";
import { Loading } from "../frame/Loading";
import { notify } from "../frame/notify";
import { type DocumentEdge, edgeId, findNode, labelOf } from "../graph/document";
import { isSourceKind } from "../graph/kinds";
import { PlainEmpty } from "../live/PlainEmpty";
import { isMoving, wordOf } from "../live/states";
import { useLive } from "../live/store";
import { useRunsPlain } from "../live/useRunsPlain";
import { useShownState } from "../live/useShownState";
import { FollowButton } from "../simulate/FollowDialog";
import { follow } from "../simulate/follow";
import { type RecordColumn, RecordTable } from "../simulate/RecordTable";
import { useSimulation } from "../simulate/store";
import { Empty, Note, Segments, Tip } from "../ui";
import { exact, hour } from "../ui/format";
import { t } from "../ui/i18n";
import { EdgeKeys } from "./EdgeKeys";
import { asJson, inputsOf, placeOf } from "./edges";
import classes from "./runtime.module.css";

/** Interval of requests in milliseconds. The driver stops sampling ten seconds after the last request. */
const ASK_MS = 2_000;

/** The last records over the selected edge of the running version, sampled only while this panel requests them. */
export function RecordsPanel({ ws, topology }: { ws: string; topology: number }) {
  const id = useLive((live) => live.deployment?.id ?? null);
  const state = useShownState();
  const plain = useRunsPlain();
  const document = useDesigner((designer) => designer.document);
  const selected = useDesigner((designer) => designer.selection.edges[0]);
  const edge = selected === undefined ? null : edgeWithRecords(document, selected);
  if (id === null || state === null) {
    return (
      <Empty title={t("Nothing is running yet")}>
        {t("Deploy the topology: the records on its edges appear here.")}
      </Empty>
    );
  }
  if (plain) {
    return <PlainEmpty>{t("Its queries show no records between their operators.")}</PlainEmpty>;
  }
  if (!["running", "asleep", "stopping", "unknown"].includes(state)) {
    return (
      <Empty
        title={isMoving(state) ? t("Not running yet") : wordOf(state)}
        action={<FollowButton topology={topology} ws={ws} />}
      >
        {t("Records appear here while the deployment runs.")}
      </Empty>
    );
  }
  if (edge === null) {
    return (
      <Empty title={t("Select an edge")} action={<FollowButton topology={topology} ws={ws} />}>
        {t({
          id: "runtime.click_edge_on_canvas",
          message:
            "Click an edge on the canvas: the last records that passed over it are listed here. An edge to a store carries no records.",
        })}
      </Empty>
    );
  }
  return (
    <Records key={`${id} ${selected}`} deployment={id} edge={edge} ws={ws} topology={topology} />
  );
}

/** Whether the running version does not have the edge. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === "no_such_edge";
}

interface Shown {
  readonly deployment: number;
  readonly edge: DocumentEdge;
  readonly ws: string;
  readonly topology: number;
}

function Records({ deployment, edge, topology, ws }: Shown) {
  const document = useDesigner((state) => state.document);
  const [paused, setPaused] = useState(false);
  const { shape } = useRecordsView();
  const found = useQuery({
    queryKey: ["edge-records", deployment, edgeId(edge)],
    queryFn: ({ signal }) => getEdgeRecords(deployment, edgeId(edge), signal),
    enabled: !paused,
    refetchInterval: (query) => (paused || isGone(query.state.error) ? false : ASK_MS),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const records = found.data?.records ?? [];
  const inputs = useMemo(() => inputsOf(document, edge, records), [document, edge, records]);
  const copy = async () => {
    await navigator.clipboard.writeText(asJson(records));
    notify(t("Copied as JSON."));
  };
  const simulate = () => {
    const simulation = useSimulation.getState();
    simulation.open(topology);
    simulation.setRows([...useSimulation.getState().rows, ...inputs]);
    simulation.setView("inputs");
    useView.getState().openBottom("simulate");
  };
  const followOne = ({ offset, partition, topic }: EdgeRecord) => {
    if (topic === null || partition === null || offset === null) return;
    void follow(ws, topology, deployment, { topic, partition, offset });
  };
  const reads = isSourceKind(findNode(document, edge.source)?.kind ?? "");
  return (
    <div className="ui-panel" data-testid="edge-records" data-sampling={found.data?.sampling}>
      <div className="ui-bar">
        <Segments<"records" | "keys">
          label={t("View")}
          value={shape}
          onChange={(next) => useRecordsView.setState({ shape: next })}
          items={[
            { id: "records", title: t("Records") },
            { id: "keys", title: t("Keys") },
          ]}
        />
        <Title edge={edge} />
        <span className="ui-space" />
        <FollowButton topology={topology} ws={ws} />
        {reads ? (
          <Tip text={t("Adds these records to the inputs of the simulation.")}>
            <Button
              variant="subtle"
              disabled={inputs.length === 0}
              onClick={simulate}
              data-testid="simulate-records"
            >
              {t("Simulate these")}
            </Button>
          </Tip>
        ) : null}
        <Button
          variant="subtle"
          leftSection={<IconCopy size={16} stroke={1.5} />}
          disabled={records.length === 0}
          onClick={() => void copy()}
        >
          {t("Copy as JSON")}
        </Button>
        <Button
          variant="subtle"
          leftSection={
            paused ? (
              <IconPlayerPlay size={16} stroke={1.5} />
            ) : (
              <IconPlayerPause size={16} stroke={1.5} />
            )
          }
          onClick={() => setPaused(!paused)}
          data-testid="pause-records"
        >
          {paused ? t("Continue") : t("Pause")}
        </Button>
      </div>
      {found.isPending ? <Loading /> : null}
      {isGone(found.error) ? (
        <Empty title={t("Not in the running version")}>
          {t("Deploy the current topology to see the records of this edge.")}
        </Empty>
      ) : found.isError && found.data === undefined ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
      ) : null}
      {found.isError && found.data !== undefined ? (
        <Note tone="degraded">{found.error.message}</Note>
      ) : null}
      {found.data === undefined ? null : (
        <List ws={ws} edge={edge} found={found.data} follow={followOne} keys={shape === "keys"} />
      )}
    </div>
  );
}

function useTotal(edge: DocumentEdge): number | null {
  const document = useDesigner((state) => state.document);
  return useRuntime((state) => edgeFigures(document, edge, state.figures)?.total ?? null);
}

function Title({ edge }: { edge: DocumentEdge }) {
  const document = useDesigner((state) => state.document);
  const total = useTotal(edge);
  const [source, target] = [edge.source, edge.target].map((id) => findNode(document, id));
  if (source === undefined || target === undefined) return null;
  const name = `${labelOf(source)} → ${labelOf(target)}`;
  return (
    <>
      <strong className={`${classes.edgeName} m-cut`} title={name}>
        {name}
      </strong>
      {total === null ? null : (
        <span className={`${classes.edgeTotal} m-figures`} data-testid="edge-total">
          {t(
            {
              id: "runtime.records_since_driver_started",
              message: "{n} {n, plural, one {record} other {records}} since the driver started",
            },
            { n: exact(total) },
          )}
        </span>
      )}
    </>
  );
}

function List(props: {
  edge: DocumentEdge;
  found: EdgeRecords;
  ws: string;
  follow: (record: EdgeRecord) => void;
  /** Show the keys instead of the records. */
  keys: boolean;
}) {
  const { edge, follow, found, ws } = props;
  const total = useTotal(edge);
  if (found.sampling === "stopped") {
    return (
      <Empty title={t("Not running yet")}>
        {t("Records appear here while the deployment runs.")}
      </Empty>
    );
  }
  if (found.sampling === "starting") {
    return <Loading what={t("The driver is starting to sample records…")} />;
  }
  if (props.keys && found.keys !== null) return <EdgeKeys keys={found.keys} />;
  if (found.records.length === 0) {
    return (
      <Empty title={t("No records yet")}>
        {total === null || total === 0
          ? t("The next records on this edge appear here.")
          : t({
              id: "runtime.records_are_kept_only",
              message:
                "Records are kept only while this panel is open. The next records on this edge appear here.",
            })}
      </Empty>
    );
  }
  const before: RecordColumn<Listed>[] = [
    {
      title: t("Seen"),
      className: "m-figures",
      cell: (row) => hour(row.seen),
    },
  ];
  const after: RecordColumn<Listed>[] = [
    {
      title: t("Input record"),
      className: "m-figures",
      cell: (row) => <Place ws={ws} row={row} follow={follow} />,
    },
  ];
  const rows = found.records.map((record) => ({ ...record, id: record.number }));
  return (
    <div className={`ui-scroll m-scroll`} data-testid="edge-records-list">
      <RecordTable rows={rows} before={before} after={after} />
    </div>
  );
}

type Listed = EdgeRecord & { readonly id: number };

/** A link to the input record that caused this one, and a button that follows it. */
function Place(props: { row: Listed; ws: string; follow: (record: EdgeRecord) => void }) {
  const { follow, row, ws } = props;
  const { offset, partition, topic } = row;
  if (topic === null || partition === null || offset === null) return "–";
  return (
    <>
      <Link
        to={recordAddress(ws, topic, partition, offset)}
        title={t("See the record")}
        className={classes.place}
      >
        {placeOf(row)}
      </Link>
      <ActionIcon
        variant="subtle"
        className={classes.followRecord ?? ""}
        aria-label={t("Follow {place}", { place: placeOf(row) ?? "" })}
        title={t("Follow it through the topology, in a simulation")}
        onClick={() => follow(row)}
        data-testid="follow-record"
      >
        <IconRoute size={14} stroke={1.5} />
      </ActionIcon>
    </>
  );
}
