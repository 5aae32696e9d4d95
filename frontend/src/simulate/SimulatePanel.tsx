import { Button, Progress } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { prepareSimulator } from "../api/compileCalls";
import { describeCause } from "../api/prose";
import { nameOfSetting } from "../designer/breakpoints";
import { useDesigner } from "../designer/store";
import { findNode, isStoreKind, labelOf } from "../graph/document";
import { pinsOf } from "../graph/pins";
import { Empty, Note } from "../ui";
import { span } from "../ui/format";
import { t } from "../ui/i18n";
import { GenerateDialog, PasteDialog } from "./Adding";
import { follow } from "./follow";
import { InputsTable } from "./InputsTable";
import { Undone, useOwnUndo } from "./InputsUndo";
import { takePending } from "./kept";
import { LogView } from "./LogView";
import { PlainView } from "./PlainView";
import { linesRead } from "./pins";
import { EdgeView, OutputsView } from "./Records";
import { SampleDialog } from "./Sampling";
import { Stepper } from "./Stepper";
import { type BadCell, bytesCell, linesOf, readsPatterns, sourcesFor } from "./scenario";
import classes from "./simulate.module.css";
import { type Shown, useSimulation } from "./store";
import { KeepDialog } from "./TestDialog";
import { TestsView } from "./Tests";
import { type DialogName, Toolbar } from "./Toolbar";
import { WayView } from "./WayView";

/** Milliseconds without changes after which an automatic simulation runs again. */
const QUIET_MS = 500;

/** In automatic mode, runs the simulation again after each change of the document or the inputs. */
function useAuto(workspace: string) {
  const auto = useSimulation((state) => state.auto);
  const rows = useSimulation((state) => state.rows);
  const revision = useDesigner((state) => state.revision);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change restarts the timer
  useEffect(() => {
    if (!auto || rows.length === 0) return;
    const timer = setTimeout(() => void useSimulation.getState().run(workspace), QUIET_MS);
    return () => clearTimeout(timer);
  }, [auto, rows, revision, workspace]);
}

/** Runs records through the topology without a deployment, and shows inputs, outputs and each step. */
export function SimulatePanel({ topology, ws }: { topology: number; ws: string }) {
  const document = useDesigner((state) => state.document);
  const { rows, shown, view } = useSimulation();
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const sources = useMemo(() => sourcesFor(document, rows), [document, rows]);
  const { bad } = useMemo(() => linesOf(rows, sources), [rows, sources]);
  useEffect(() => {
    useSimulation.getState().open(topology);
    // Start the simulator now, so that the first run does not have to wait for it.
    void prepareSimulator(ws).catch(() => undefined);
    const record = takePending(topology);
    if (record !== null) {
      const { deployment, offset, partition, topic } = record;
      void follow(ws, topology, deployment, { topic, partition, offset });
    }
  }, [topology, ws]);
  useEffect(
    () =>
      useDesigner.subscribe((state, before) => {
        const edge = state.selection.edges[0];
        if (edge !== undefined && edge !== before.selection.edges[0]) {
          if (useSimulation.getState().shown !== null) useSimulation.getState().setView("edge");
        }
      }),
    [],
  );
  useAuto(ws);
  const box = useRef<HTMLDivElement>(null);
  useOwnUndo(box);
  const pinned = pinsOf(document).length > 0;
  if (sources.length === 0 && !readsPatterns(document) && !pinned)
    return (
      <Empty title={t("Try this topology on records")}>
        {t({
          id: "simulate.there_is_no_source",
          message: "There is no source with a topic yet. Add one: its topic gets the records.",
        })}
      </Empty>
    );
  return (
    <div ref={box} className={classes.panel} data-testid="simulate">
      <Toolbar ws={ws} bad={bad.length} onDialog={setDialog} />
      <Messages bad={bad} />
      {view === "inputs" ? (
        rows.length === 0 && !pinned ? (
          <Empty
            title={t("Try this topology on records")}
            action={<Button onClick={() => setDialog("generate")}>{t("Generate…")}</Button>}
          >
            {t({
              id: "simulate.nothing_is_deployed_and_no",
              message:
                "Nothing is deployed and no topic is touched: the records that you add go through the topology as they would in production, and you see where each one went and why.",
            })}
          </Empty>
        ) : (
          <InputsTable bad={bad} />
        )
      ) : view === "results" ? (
        <OutputsView shown={shown} />
      ) : view === "log" ? (
        <LogView shown={shown} />
      ) : view === "edge" ? (
        <EdgeView shown={shown} />
      ) : view === "way" ? (
        <WayView shown={shown} topology={topology} ws={ws} />
      ) : view === "plain" ? (
        <PlainView ws={ws} />
      ) : view === "tests" ? (
        <TestsView topology={topology} ws={ws} />
      ) : (
        <Stepper shown={shown} />
      )}
      {dialog === "paste" ? <PasteDialog onClose={() => setDialog(null)} /> : null}
      {dialog === "keep" && shown !== null ? (
        <KeepDialog topology={topology} ws={ws} shown={shown} onClose={() => setDialog(null)} />
      ) : null}
      {dialog === "sample" ? <SampleDialog ws={ws} onClose={() => setDialog(null)} /> : null}
      {dialog === "generate" ? <GenerateDialog ws={ws} onClose={() => setDialog(null)} /> : null}
    </div>
  );
}

/** Which part of the topology ran, and before which muted nodes records stopped. */
function PartNote({ shown }: { shown: Shown }) {
  const { part } = shown.result;
  if (part === undefined) return null;
  const nodes = shown.document.nodes.filter((node) => !isStoreKind(node.kind));
  const stopped = Object.keys(part.muted).filter((id) => part.muted[id] === false);
  const name = (id: string) => {
    const node = findNode(shown.document, id);
    return node === undefined ? id : labelOf(node);
  };
  const names = stopped.map(name);
  const ran = nodes.filter((node) => part.nodes.includes(node.id)).length;
  return (
    <Note tone="neutral">
      <span data-testid="part-ran">
        {ran === nodes.length && part.doubles.length > 0
          ? ""
          : `${t("A part ran: {n} of {all} nodes.", { n: ran, all: nodes.length })} `}
        {part.doubles.length === 0
          ? ""
          : t("A double stood for {nodes}.", { nodes: part.doubles.map(name).join(", ") })}
        {names.length === 0
          ? ""
          : ` ${t({ id: "simulate.records_stop_before_muted", message: "Records stop before {nodes}: what is muted there gives records of another type, or none." }, { nodes: names.join(", ") })}`}
      </span>
    </Note>
  );
}

/** Notes on breakpoints that no statement reaches, and on a truncated list of stops. */
function BreakpointNotes({ shown }: { shown: Shown }) {
  const { breakpoints, steps, stops_truncated } = shown.result;
  const nowhere = Object.entries(breakpoints).flatMap(([node, found]) =>
    found.filter(({ at }) => at === null).map(({ line }) => ({ line, node })),
  );
  return (
    <>
      {nowhere.map(({ line, node }) => {
        const found = findNode(shown.document, node);
        return (
          <Note key={`${node} ${line}`} tone="degraded">
            {t(
              {
                id: "simulate.breakpoint_in_line_of_has",
                message:
                  "The breakpoint in line {line} of {node} has no effect: no statement follows it.",
              },
              {
                line,
                node: found === undefined ? (nameOfSetting(node) ?? node) : labelOf(found),
              },
            )}
          </Note>
        );
      })}
      {stops_truncated ? (
        <Note tone="neutral">
          {t("Only the first {n} stops at breakpoints are listed.", {
            n: steps.filter((step) => step.event === "stop").length,
          })}
        </Note>
      ) : null}
    </>
  );
}

/** The progress of the run; after a run that was canceled in the middle of a record, its last progress. */
function ProgressLine() {
  const { comparing, phase, progress, view } = useSimulation();
  // The view of plain Spark shows its own progress.
  const elsewhere = comparing && view === "plain" && phase !== "idle";
  if (progress === null || elsewhere) return null;
  if (phase === "idle")
    return (
      <Note tone="degraded">
        {t(
          {
            id: "simulate.canceled_in_middle_of_record",
            message:
              "Canceled in the middle of a record, after {done} of {lines}: only the counts on the canvas are known.",
          },
          { done: progress.done, lines: progress.lines },
        )}
      </Note>
    );
  const { done, lines } = progress;
  return (
    <div className={classes.progress} data-testid="simulation-progress">
      <Progress value={(100 * done) / Math.max(1, lines)} aria-label={t("Progress")} />
      <span className={`${classes.summary} m-figures`}>
        {t(
          {
            id: "simulate.of_records_so_far",
            message: "{done} of {lines} {lines, plural, one {record} other {records}} so far",
          },
          { done, lines },
        )}
      </span>
    </div>
  );
}

/** Makes bytes of keys and values that are not written in the format of their source. */
function sendAsBytes(bad: readonly BadCell[]) {
  const { rows, setRows } = useSimulation.getState();
  const wrong = (row: number, column: BadCell["column"]) =>
    bad.some((each) => each.row === row && each.column === column);
  const changed = rows.map((row, at) => ({
    ...row,
    key: wrong(at, "key") ? bytesCell(row.key) : row.key,
    value: wrong(at, "value") ? bytesCell(row.value) : row.value,
  }));
  setRows(changed, { label: t("Texts as bytes") });
}

function Messages({ bad }: { bad: readonly BadCell[] }) {
  const { diagnostics, failure, phase, progress, shown } = useSimulation();
  const counting = progress !== null;
  const error = shown?.result.error ?? null;
  const refused = shown === null && diagnostics.some((each) => each.severity === "error");
  return (
    <div className={classes.messages} aria-live="polite">
      <Undone />
      {bad.length === 0 ? null : (
        <Note tone="failed">
          <span className={classes.removed}>
            {t(
              {
                id: "simulate.cells_marked_red_cannot",
                message: "{n} {n, plural, one {cell} other {cells}} marked red cannot be read.",
              },
              { n: bad.length },
            )}
            {bad.some(({ column }) => column === "key" || column === "value") ? (
              <Button
                variant="default"
                size="compact-xs"
                title={t({
                  id: "simulate.record_then_arrives_with_these",
                  message:
                    "The record then arrives with these bytes, as a faulty producer sends it.",
                })}
                onClick={() => sendAsBytes(bad)}
                data-testid="send-as-bytes"
              >
                {t("Send the text as bytes")}
              </Button>
            ) : null}
          </span>
        </Note>
      )}
      {phase === "searching" ? <Note tone="starting">{t("Reading the topics…")}</Note> : null}
      {phase === "starting" ? (
        <Note tone="starting">
          {t({
            id: "common.simulator_is_starting_after",
            message: "The simulator is starting. After a pause this takes a few seconds.",
          })}
        </Note>
      ) : null}
      {failure === null ? null : <Note tone="failed">{failure}</Note>}
      {refused ? (
        <Note tone="failed">{t("The topology has errors. See the Problems tab.")}</Note>
      ) : null}
      {shown?.cancelledOf === undefined || counting ? null : (
        <Note tone="degraded">
          {t(
            {
              id: "simulate.canceled_these_are_results",
              message:
                "Canceled: these are the results of the first {n} of {all} {all, plural, one {record} other {records}}.",
            },
            {
              n: shown.lines.length,
              all: shown.cancelledOf,
            },
          )}
        </Note>
      )}
      {shown === null ? null : <BreakpointNotes shown={shown} />}
      {shown === null || counting ? null : <PartNote shown={shown} />}
      {error === null ? null : (
        <Note tone="failed">
          {t("Stopped at record {n}: {why}", {
            n: error.after,
            why: describeCause({ ...error, code: error.code ?? "" }),
          })}
        </Note>
      )}
      <ProgressLine />
      {shown === null || counting ? null : (
        <span className={`${classes.summary} m-figures`} data-testid="simulation-summary">
          {t(
            {
              id: "simulate.records_in_records_out",
              message:
                "{n} {n, plural, one {record} other {records}} in, {m} {m, plural, one {record} other {records}} out, {d} dropped · {time}",
            },
            {
              n: linesRead(shown.document, shown.lines, shown.result.part),
              m: shown.result.output_count,
              d: shown.result.dropped,
              time: span(shown.seconds * 1_000),
            },
          )}
          {shown.result.truncated
            ? ` ${t({ id: "simulate.too_many_steps_to_list", message: "Too many steps to list all of them: the last ones are missing here. The counts are complete." })}`
            : ""}
        </span>
      )}
    </div>
  );
}
