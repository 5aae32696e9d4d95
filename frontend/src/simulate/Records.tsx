import { useMemo } from "react";
import { useDesigner } from "../designer/store";
import { edgeId } from "../graph/document";
import { Empty } from "../ui";
import { t } from "../ui/i18n";
import { type ListedRecord, type RecordColumn, RecordTable } from "./RecordTable";
import classes from "./simulate.module.css";
import { type Shown, useSimulation } from "./store";

interface RecordRow extends ListedRecord {
  readonly after: number;
  readonly topic?: string;
  /** The step to show on a click. */
  readonly step: number | null;
}

function Table({ rows, topics }: { rows: readonly RecordRow[]; topics: boolean }) {
  const { goTo, setView } = useSimulation.getState();
  const columns: RecordColumn<RecordRow>[] = [
    {
      title: t("Input"),
      className: `${classes.right} m-figures`,
      cell: (row) =>
        row.step === null ? (
          row.after
        ) : (
          <button
            type="button"
            className={classes.link}
            onClick={() => {
              setView("steps");
              goTo(row.step ?? 0);
            }}
          >
            {row.after}
          </button>
        ),
    },
  ];
  if (topics)
    columns.push({
      title: t("Topic"),
      cell: (row) => <span className="m-mono">{row.topic}</span>,
    });
  return <RecordTable rows={rows} before={columns} />;
}

/** The outputs of the sinks. A click on the number of the input shows how the output came about. */
/** Whether a node ran from which nothing goes on, such as a sink. */
function ends({ document: { edges }, result: { part } }: Shown): boolean {
  return part === undefined || part.nodes.some((id) => edges.every(({ source }) => source !== id));
}

export function OutputsView({ shown }: { shown: Shown | null }) {
  if (shown === null)
    return (
      <Empty title={t("Outputs")}>
        {t("Run the simulation: what the sinks write is listed here.")}
      </Empty>
    );
  const { outputs, steps } = shown.result;
  if (outputs.length === 0)
    return (
      <Empty title={t("Outputs")}>
        {ends(shown)
          ? t({
              id: "simulate.there_is_no_output",
              message:
                "There is no output. Step through the records to see where each one was dropped.",
            })
          : t({
              id: "simulate.no_sink_ran",
              message:
                "No sink is in the part that ran. Step by step, you see what reached each of its nodes.",
            })}
      </Empty>
    );
  const first = new Map<number, number>();
  steps.forEach((step, index) => {
    if (!first.has(step.after)) first.set(step.after, index);
  });
  return (
    <div className={`ui-scroll m-scroll`} data-testid="simulation-outputs">
      <Table
        topics
        rows={outputs.map((each, id) => ({ ...each, id, step: first.get(each.after) ?? null }))}
      />
    </div>
  );
}

/** The records that went over the selected edge. */
export function EdgeView({ shown }: { shown: Shown | null }) {
  const selected = useDesigner((state) => state.selection.edges[0]);
  const rows = useMemo((): readonly RecordRow[] | null => {
    if (shown === null || selected === undefined) return null;
    const index = shown.document.edges.findIndex((edge) => edgeId(edge) === selected);
    return shown.result.steps.flatMap((step, at) =>
      step.edge === index && step.record !== undefined
        ? [{ ...step.record, id: step.seq, after: step.after, step: at }]
        : [],
    );
  }, [shown, selected]);
  if (rows === null)
    return (
      <Empty title={t("Records of an edge")}>
        {t({
          id: "simulate.click_edge_on_canvas",
          message: "Click an edge on the canvas: the records that passed over it are listed here.",
        })}
      </Empty>
    );
  if (rows.length === 0)
    return <Empty title={t("Records of an edge")}>{t("No record passed over this edge.")}</Empty>;
  return (
    <div className={`ui-scroll m-scroll`} data-testid="simulation-edge">
      <Table topics={false} rows={rows} />
    </div>
  );
}
