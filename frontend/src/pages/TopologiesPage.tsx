import { Button, Select } from "@mantine/core";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { useParams } from "react-router";
import { subscribe, withBrief } from "../api/live";
import { listTopologies } from "../api/topologyCalls";
import type { Deployment, TopologyPage, TopologyQuery, TopologySummary } from "../api/types";
import { openLearn, useGuides } from "../commands/guides";
import { ActionsHead } from "../frame/ActionsHead";
import { ListFrame } from "../frame/ListFrame";
import { noteInAddress, usePages } from "../frame/paging";
import { Shell } from "../frame/Shell";
import { may, useWorkspace } from "../frame/session";
import { type Phrase, phrase, t } from "../ui/i18n";
import { later } from "../ui/later";
import classes from "../ui/pages.module.css";
import { CreateDialog } from "./CreateDialog";
import { DeleteDialog } from "./DeleteDialog";
import { FirstSteps } from "./FirstSteps";
import { rememberWorkspace } from "./HomePage";
import { TopologyRow } from "./TopologyRow";

const LearnDialog = later(async () => (await import("../learn/LearnDialog")).LearnDialog);
const Mentions = later(async () => (await import("../comments/Mentions")).Mentions);

type Ordering = NonNullable<TopologyQuery["ordering"]>;
type State = NonNullable<TopologyQuery["state"]> | "";

const STATE = "state";
const STATES: readonly { value: State; label: Phrase }[] = [
  { value: "", label: phrase("Any state") },
  { value: "active", label: phrase("Running") },
  { value: "problem", label: phrase("With problems") },
  { value: "stopped", label: phrase("Stopped") },
  { value: "none", label: phrase("Not deployed") },
];

function stateInAddress(): State {
  const asked = new URLSearchParams(location.search).get(STATE);
  return STATES.find(({ value }) => value === asked)?.value ?? "";
}

/** Chooses the topologies that are listed, by what their deployments do. */
function StateFilter(props: { state: State; onChange: (state: State) => void }) {
  return (
    <Select
      aria-label={t("State of the deployment")}
      data={STATES.map(({ label, value }) => ({ value, label: t(label) }))}
      value={props.state}
      onChange={(value) => props.onChange((value ?? "") as State)}
      allowDeselect={false}
      w={150}
      data-testid="state-filter"
    />
  );
}

/** Updates the row of a deployment's topology, without another request. */
export function withDeployment(
  page: TopologyPage | undefined,
  deployment: Deployment,
): TopologyPage | undefined {
  if (page === undefined) return undefined;
  return {
    ...page,
    results: page.results.map((row) =>
      row.id === deployment.topology ? withBrief(row, deployment.id, deployment) : row,
    ),
  };
}

function useLiveRows(ws: string, key: readonly unknown[]) {
  const queries = useQueryClient();
  const text = JSON.stringify(key);
  useEffect(() => {
    const subscription = subscribe(
      `/api/live?workspace=${encodeURIComponent(ws)}`,
      (event) => {
        if (event.type === "topology.changed" || event.type === "topology.deleted") {
          void queries.invalidateQueries({ queryKey: ["topologies", ws] });
        }
        if (event.type !== "deployment.changed") return;
        queries.setQueryData<TopologyPage>(JSON.parse(text), (page) =>
          withDeployment(page, event.data),
        );
      },
      () => undefined,
    );
    return () => subscription.close();
  }, [ws, text, queries]);
}

export function TopologiesPage() {
  const { ws = "" } = useParams();
  const workspace = useWorkspace(ws);
  const [ordering, setOrdering] = useState<Ordering>("-updated_at");
  const [state, setState] = useState(stateInAddress);
  const [creating, setCreating] = useState<{ template?: string } | null>(null);
  const [deleting, setDeleting] = useState<TopologySummary | null>(null);
  useEffect(() => {
    rememberWorkspace(ws);
    document.title = "Millrace";
  }, [ws]);

  const paging = usePages(
    ["topologies", ws, ordering, state],
    (query) => listTopologies(ws, { ...query, ordering, ...(state === "" ? {} : { state }) }),
    { refetchInterval: 30_000, inAddress: true },
  );
  useLiveRows(ws, paging.queryKey);

  const learning = useGuides((state) => state.learning);
  const editor = may(workspace?.role, "editor");

  // The primary action of an empty list is the one within it.
  const first = paging.found?.count === 0 && paging.text === "" && state === "";

  return (
    <Shell ws={ws}>
      <ListFrame
        title={t("Topologies")}
        level={1}
        paging={paging}
        search={t("Search topologies")}
        searches={t("Search by name or description")}
        actions={
          <>
            {first ? null : (
              <StateFilter
                state={state}
                onChange={(next) => {
                  setState(next);
                  noteInAddress({ [STATE]: next });
                  paging.setPage(1);
                }}
              />
            )}
            {editor ? (
              <Button onClick={() => openLearn(true)} data-testid="learn">
                {t("Learn")}
              </Button>
            ) : null}
            {editor ? (
              <Button
                variant={first ? "default" : "filled"}
                leftSection={<IconPlus size={16} stroke={1.5} />}
                onClick={() => setCreating({})}
                data-testid="new-topology"
              >
                {t("New topology")}
              </Button>
            ) : null}
          </>
        }
        notes={
          <Suspense fallback={null}>
            <Mentions ws={ws} />
          </Suspense>
        }
        none={
          state === ""
            ? t("No topology matches “{search}”.", { search: paging.text })
            : t("No topology is in this state.")
        }
        empty={
          state === "" ? (
            <FirstSteps
              editor={editor}
              onCreate={(template) => setCreating(template === undefined ? {} : { template })}
            />
          ) : undefined
        }
      >
        {(rows) => (
          <Rows
            rows={rows}
            ws={ws}
            editor={editor}
            onDelete={setDeleting}
            ordering={ordering}
            onOrdering={(next) => {
              setOrdering(next);
              paging.setPage(1);
            }}
          />
        )}
      </ListFrame>

      {learning ? (
        <Suspense>
          <LearnDialog ws={ws} editor={editor} />
        </Suspense>
      ) : null}
      {creating === null ? null : (
        <CreateDialog ws={ws} {...creating} onClose={() => setCreating(null)} />
      )}
      {deleting === null ? null : (
        <DeleteDialog
          ws={ws}
          topology={paging.found?.results.find(({ id }) => id === deleting.id) ?? deleting}
          onClose={() => setDeleting(null)}
        />
      )}
    </Shell>
  );
}

function Rows(props: {
  rows: readonly TopologySummary[];
  ws: string;
  editor: boolean;
  ordering: Ordering;
  onOrdering: (ordering: Ordering) => void;
  onDelete: (topology: TopologySummary) => void;
}) {
  const sort = (field: "name" | "updated_at") => {
    const current = props.ordering.replace("-", "") === field;
    props.onOrdering(current && !props.ordering.startsWith("-") ? `-${field}` : field);
  };
  const sorted = (field: string) => {
    if (props.ordering.replace("-", "") !== field) return undefined;
    return props.ordering.startsWith("-") ? "descending" : "ascending";
  };
  return (
    <div className={classes.card}>
      <table className={classes.list}>
        <thead>
          <tr>
            <th aria-sort={sorted("name")}>
              <button type="button" className="ui-sorter" onClick={() => sort("name")}>
                {t("Name")}
              </button>
            </th>
            <th className={classes.stateColumn}>{t("Deployment")}</th>
            <th className={classes.number}>{t("Version")}</th>
            <th className={classes.number}>{t("Nodes")}</th>
            <th aria-sort={sorted("updated_at")}>
              <button type="button" className="ui-sorter" onClick={() => sort("updated_at")}>
                {t("Changed")}
              </button>
            </th>
            <ActionsHead />
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <TopologyRow
              key={row.id}
              ws={props.ws}
              topology={row}
              editor={props.editor}
              onDelete={() => props.onDelete(row)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
