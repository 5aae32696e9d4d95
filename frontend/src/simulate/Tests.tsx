import { ActionIcon, Button, Loader } from "@mantine/core";
import IconCheck from "@tabler/icons-react/dist/esm/icons/IconCheck.mjs";
import IconPencil from "@tabler/icons-react/dist/esm/icons/IconPencil.mjs";
import IconPlay from "@tabler/icons-react/dist/esm/icons/IconPlayerPlay.mjs";
import IconScale from "@tabler/icons-react/dist/esm/icons/IconScale.mjs";
import IconTable from "@tabler/icons-react/dist/esm/icons/IconTable.mjs";
import IconTrash from "@tabler/icons-react/dist/esm/icons/IconTrash.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ComponentProps, useState } from "react";
import { deleteTest } from "../api/compileCalls";
import { describeDifference } from "../api/prose";
import type { Difference, TopologyTest } from "../api/types";
import { useDesigner } from "../designer/store";
import { notifyError } from "../frame/notify";
import { Waiting } from "../frame/Waiting";
import { Empty, Tip } from "../ui";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { CoverageNote } from "./CoverageNote";
import { DiffView } from "./DiffView";
import { isShown } from "./diff";
import { rowOf, sourcesOf } from "./scenario";
import classes from "./simulate.module.css";
import { useSimulation } from "./store";
import { EditDialog, useTestList } from "./TestDialog";
import { useTests, type Verdict } from "./tests";
import { type Comparison, STEPS, useVerification } from "./verifying";

function Icon({ verdict }: { verdict: Verdict | undefined }) {
  if (verdict === undefined) return null;
  if (verdict.state === "running") return <Loader size={14} aria-label={t("Running…")} />;
  const passed = verdict.state === "passed";
  const Shape = passed ? IconCheck : IconX;
  return (
    <Shape size={16} stroke={1.8} aria-label={passed ? t("passed") : t("failed")} role="img" />
  );
}

/** The tests of the topology and the results of their last run. */
export function TestsView({ topology, ws }: { topology: number; ws: string }) {
  const list = useTestList(topology);
  const { busy, coverage, run, stop, verdicts } = useTests();
  const readOnly = useDesigner((state) => state.readOnly);
  const [removed, setRemoved] = useState<TopologyTest | null>(null);
  const [edited, setEdited] = useState<TopologyTest | null>(null);
  if (list.data === undefined) return <Waiting query={list} />;
  const tests = list.data.results;
  if (tests.length === 0)
    return (
      <Empty title={t("Tests")}>
        {t({
          id: "simulate.this_topology_has_no",
          message:
            "This topology has no tests yet. Run a simulation, then choose “Keep as a test…” above its outputs.",
        })}
      </Empty>
    );
  const ended = tests.map((test) => verdicts[test.id]?.state);
  return (
    <div className={`ui-scroll m-scroll`} data-testid="topology-tests">
      <div className={classes.testsHead}>
        {busy ? (
          <Button onClick={stop}>{t("Cancel")}</Button>
        ) : (
          <Button onClick={() => void run(ws, tests)}>{t("Run all tests")}</Button>
        )}
        <span className={`${classes.summary} m-figures`} aria-live="polite">
          {t(
            {
              id: "simulate.tests_passed_failed",
              message:
                "{n} {n, plural, one {test} other {tests}} · {passed} passed · {failed} failed",
            },
            {
              n: tests.length,
              passed: ended.filter((state) => state === "passed").length,
              failed: ended.filter((state) => state === "failed").length,
            },
          )}
        </span>
      </div>
      {coverage === null ? null : <CoverageNote coverage={coverage} />}
      <ul className={classes.tests}>
        {tests.map((test) => (
          <TestRow
            key={test.id}
            ws={ws}
            test={test}
            verdict={verdicts[test.id]}
            readOnly={readOnly}
            onRun={() => void run(ws, [test])}
            onEdit={() => setEdited(test)}
            onRemove={() => setRemoved(test)}
          />
        ))}
      </ul>
      {edited === null ? null : (
        <EditDialog topology={topology} ws={ws} test={edited} onClose={() => setEdited(null)} />
      )}
      {removed === null ? null : (
        <RemoveDialog topology={topology} test={removed} onClose={() => setRemoved(null)} />
      )}
    </div>
  );
}

function TestRow(props: {
  ws: string;
  test: TopologyTest;
  verdict: Verdict | undefined;
  readOnly: boolean;
  onRun: () => void;
  onEdit: () => void;
  onRemove: () => void;
}) {
  const { onEdit, onRemove, onRun, readOnly, test, verdict } = props;
  const conditions = test.expected.conditions?.length ?? 0;
  const { cancel, comparison, start } = useVerification(props.ws, test.inputs);
  const open = () => {
    const sources = sourcesOf(useDesigner.getState().document);
    const { setRows, setView } = useSimulation.getState();
    // A test's records are processed in the order in which they were recorded.
    setRows(
      test.inputs.map((line) => rowOf(line as Record<string, unknown>, sources)),
      { order: "listed", label: t("Records of the test “{name}”", { name: test.name }) },
    );
    setView("inputs");
  };
  return (
    <li data-test={test.name} data-verdict={verdict?.state}>
      <span className={classes.verdict}>
        <Icon verdict={verdict} />
      </span>
      <span className={classes.testName} title={test.name}>
        {test.name}
      </span>
      <span className={classes.number}>
        {[
          t("{n} {n, plural, one {input} other {inputs}}", { n: test.inputs.length }),
          conditions === 0
            ? ""
            : t("{n} {n, plural, one {condition} other {conditions}}", { n: conditions }),
          (verdict?.doubles ?? []).length === 0
            ? ""
            : t("with doubles for {nodes}", { nodes: verdict?.doubles?.join(", ") ?? "" }),
        ]
          .filter((part) => part !== "")
          .join(" · ")}
      </span>
      <Tip text={t("Run")}>
        <ActionIcon variant="subtle" aria-label={`${t("Run")}: ${test.name}`} onClick={onRun}>
          <IconPlay size={16} stroke={1.5} />
        </ActionIcon>
      </Tip>
      <Tip text={t("Verify on Kafka Streams")}>
        <ActionIcon
          variant="subtle"
          aria-label={`${t("Verify on Kafka Streams")}: ${test.name}`}
          disabled={comparison.state === "running"}
          onClick={start}
          data-testid="verify"
        >
          <IconScale size={16} stroke={1.5} />
        </ActionIcon>
      </Tip>
      <Tip text={t("Open its records")}>
        <ActionIcon
          variant="subtle"
          aria-label={`${t("Open its records")}: ${test.name}`}
          onClick={open}
        >
          <IconTable size={16} stroke={1.5} />
        </ActionIcon>
      </Tip>
      {readOnly ? null : (
        <Tip text={t("Edit")}>
          <ActionIcon variant="subtle" aria-label={`${t("Edit")}: ${test.name}`} onClick={onEdit}>
            <IconPencil size={16} stroke={1.5} />
          </ActionIcon>
        </Tip>
      )}
      {readOnly ? null : (
        <Tip text={t("Delete")}>
          <ActionIcon
            variant="subtle"
            aria-label={`${t("Delete")}: ${test.name}`}
            onClick={onRemove}
          >
            <IconTrash size={16} stroke={1.5} />
          </ActionIcon>
        </Tip>
      )}
      {verdict === undefined || verdict.failure === null ? null : (
        <div className={classes.differences}>{verdict.failure}</div>
      )}
      {verdict === undefined || verdict.differences.length === 0 ? null : (
        <Failed verdict={verdict} expected={test.expected} />
      )}
      <Compared comparison={comparison} onCancel={cancel} />
    </li>
  );
}

/** A diff of records and rows, and sentences for what it does not show: conditions, and why a run failed. */
function Failed(props: { verdict: Verdict; expected: TopologyTest["expected"] }) {
  const { expected, verdict } = props;
  const { actual, differences } = verdict;
  const failed = differences.some((each) => each.code === "failed");
  if (actual === null || failed) return <Differences found={differences} />;
  const others = differences.filter((each) => !isShown(each.code, expected));
  return (
    <>
      {others.length === 0 ? null : <Differences found={others} />}
      <DiffView expected={expected} actual={actual} />
    </>
  );
}

/** The progress or the result of the comparison with Kafka Streams. */
function Compared(props: { comparison: Comparison; onCancel: () => void }) {
  const { comparison } = props;
  if (comparison.state === "none") return null;
  if (comparison.state === "running") {
    return (
      <div className={classes.differences} role="status" data-testid="verifying">
        <Loader size={14} />{" "}
        {comparison.doing === null ? t("Waiting…") : t(STEPS[comparison.doing])}{" "}
        <Button variant="subtle" size="compact-sm" onClick={props.onCancel}>
          {t("Cancel")}
        </Button>
      </div>
    );
  }
  if (comparison.state === "failed" || comparison.differences.length === 0) {
    const equal = comparison.state === "done";
    return (
      <div className={classes.differences} data-testid="verified" data-equal={equal}>
        {equal
          ? t("Kafka Streams gives the same.")
          : t("Not compared: {reason}", { reason: comparison.message })}
      </div>
    );
  }
  return <Differences found={comparison.differences} data-testid="verified" data-equal={false} />;
}

function Differences(props: ComponentProps<"ul"> & { found: readonly Difference[] }) {
  const { found, ...others } = props;
  return (
    <ul className={`${classes.differences} m-mono`} {...others}>
      {found.map((each) => (
        <li key={each.message}>{describeDifference(each)}</li>
      ))}
    </ul>
  );
}

function RemoveDialog(props: { topology: number; test: TopologyTest; onClose: () => void }) {
  const { onClose, test, topology } = props;
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteTest(topology, test.id),
    onSuccess: onClose,
    onError: (error) => notifyError(error),
    onSettled: () => queries.invalidateQueries({ queryKey: ["tests", topology] }),
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("Delete the test “{name}”", { name: test.name })}
      size={440}
    >
      <p className={classes.hint}>{t("It is deleted for all members of this workspace.")}</p>
      <div className={classes.dialogButtons}>
        <Button onClick={onClose}>{t("Cancel")}</Button>
        <Button
          color="red"
          variant="filled"
          loading={remove.isPending}
          onClick={() => remove.mutate()}
        >
          {t("Delete")}
        </Button>
      </div>
    </Modal>
  );
}
