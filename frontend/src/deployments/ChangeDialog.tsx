import { Button, TextInput } from "@mantine/core";
import { Suspense, useState } from "react";
import { getVersion } from "../api/topologyCalls";
import type { StatePlan, StoreChange } from "../api/types";
import { inEnvironment } from "../graph/parameters";
import { useLive } from "../live/store";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { bytes, exact, span } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { later } from "../ui/later";
import { Modal } from "../ui/Modal";
import { useEditing } from "../versions/editing";
import { type Asked, type Decision, type Decisions, decisionOf, undecided } from "./change";
import classes from "./change.module.css";
import { HandoverNote } from "./HandoverNote";
import { openTests } from "./openTests";
import { reasonText, VERDICTS } from "./verdicts";

const Differing = later(async () => (await import("../differing/Differing")).Differing);

/** Shows how a version changes the state of the running deployment, before anything is stopped. */
export function ChangeDialog(props: Asked) {
  const { plan, promotion, refused, answer } = props;
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [expressions, setExpressions] = useState(expressionsOf(refused?.decisions ?? {}));
  const open = undecided(plan);
  const converts = (store: StoreChange) => (expressions[store.id] ?? "").trim() !== "";
  const decided = open.every((store) => converts(store) || typed[store.id] === store.name);
  const lost = open.filter((store) => !converts(store));
  const decision = (store: StoreChange): Decision =>
    converts(store) ? { convert: expressions[store.id] ?? "" } : decisionOf(store);
  const [confirmed, setConfirmed] = useState("");
  const { name, topology } = useEditing();
  const shown = useLive((state) => state.deployment?.desired !== "stopped");
  const runs = promotion === null ? shown : promotion.runs;
  const ready = decided && approved(plan) && tested(plan) && (!plan.reset || confirmed === name);
  const accept = () =>
    answer(
      Object.fromEntries(open.map((store) => [store.id, decision(store)])),
      plan.reset ? confirmed : undefined,
    );
  const topics = plan.sources.filter((source) => source.verdict !== "continues");
  const places = plan.sources.flatMap(({ topic, partitions }) =>
    partitions.map((each) => ({ topic, ...each })),
  );

  const elsewhere = plan.reset || plan.warnings.length > 0;
  const unchanged = !elsewhere && plan.stores.every((store) => store.verdict === "kept");

  return (
    <Modal
      opened
      onClose={() => answer(null)}
      title={
        promotion !== null
          ? t("What version {n} changes in {environment}", {
              n: plan.version,
              environment: promotion.environment,
            })
          : plan.version === plan.before
            ? t("How version {n} starts", { n: plan.version })
            : t("What version {n} changes", { n: plan.version })
      }
      size={640}
    >
      <div className={classes.body} data-testid="change-plan">
        <p>
          {runs
            ? t("Version {n} runs until you accept.", { n: plan.before })
            : t("Nothing starts until you accept.")}
        </p>
        <HandoverNote plan={plan} />
        <ApprovalNote plan={plan} />
        <TestsNote plan={plan} onLeave={() => answer(null)} />
        <div hidden={plan.reset && topics.length === 0} className={`${classes.list} m-scroll`}>
          {unchanged ? (
            <div className={classes.row}>
              <span className={classes.whole}>
                {t("All stores are kept, and nothing else changes.")}
              </span>
            </div>
          ) : null}
          {(plan.reset ? [] : plan.stores).map((store) => (
            <Store
              key={store.id}
              store={store}
              typed={typed[store.id] ?? ""}
              onTyped={(text) => setTyped({ ...typed, [store.id]: text })}
              expression={expressions[store.id] ?? ""}
              onExpression={(text) => setExpressions({ ...expressions, [store.id]: text })}
              refusal={refused?.error.data.store === store.id ? refused.error.message : null}
            />
          ))}
          {topics.map((source) => (
            <div key={source.topic} className={classes.row} data-testid="change-source">
              <span className={classes.name} title={source.topic}>
                {source.topic}
              </span>
              <span>
                {source.verdict === "new"
                  ? t("This topic is now read.")
                  : t("This topic is no longer read.")}
              </span>
            </div>
          ))}
        </div>
        <Values plan={plan} />
        {places.length === 0 ? null : (
          <table className={classes.places} data-testid="change-places">
            <thead>
              <tr>
                <th>{t("Topic")}</th>
                <th>{t("Partition")}</th>
                <th>{elsewhere ? t("Stopped at") : t("Continues at")}</th>
                {elsewhere ? <th>{t("Starts at")}</th> : null}
                <th>{t("Lag")}</th>
              </tr>
            </thead>
            <tbody>
              {places.map(({ topic, partition, offset, lag, stopped }) => (
                <tr key={`${topic} ${partition}`}>
                  <td>{topic}</td>
                  <td>{partition}</td>
                  {elsewhere ? <td>{stopped === null ? "?" : exact(stopped)}</td> : null}
                  <td>{exact(offset)}</td>
                  <td>{lag === null ? "?" : exact(lag)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {plan.version === plan.before || topology === null ? null : (
          <Suspense fallback={null}>
            <Differing
              names={[t("Version {n}", { n: plan.before }), t("Version {n}", { n: plan.version })]}
              load={async () => ({
                old: inEnvironment(
                  (await getVersion(topology, plan.before)).document,
                  plan.environments.old,
                ),
                new: inEnvironment(
                  (await getVersion(topology, plan.version)).document,
                  plan.environments.new,
                ),
              })}
              environment={plan.environments.new}
              onOpened={() => answer(null)}
            />
          </Suspense>
        )}
        {plan.warnings.map(({ code }) => (
          <Note key={code} tone="degraded">
            {t(WARNINGS[code])}
          </Note>
        ))}
        {plan.reset ? (
          <TextInput
            label={t("Type the name of the topology to reset its stores")}
            placeholder={name}
            value={confirmed}
            onChange={(event) => setConfirmed(event.currentTarget.value)}
            autoComplete="off"
            data-testid="change-name"
          />
        ) : null}
        {lost.length === 0 ? null : (
          <Note tone="degraded">
            {t({
              id: "deployments.rows_of_these_stores",
              message: "The rows of these stores cannot be migrated. They will be lost.",
            })}
          </Note>
        )}
        <DialogEnd
          onCancel={() => answer(null)}
          color={lost.length === 0 && !plan.reset ? undefined : "red"}
          disabled={!ready}
          onClick={accept}
          data-testid="change-accept"
        >
          {t("Accept and deploy")}
        </DialogEnd>
      </div>
    </Modal>
  );
}

/** Whether the version may be deployed: the workspace requires no approval, or there is one. */
export function approved({ approval }: Pick<StatePlan, "approval">): boolean {
  return approval === null || !approval.required || approval.approved_by.length > 0;
}

/** Who has approved the version, or who must. */
export function ApprovalNote({ plan }: { plan: Pick<StatePlan, "approval"> }) {
  const { approval } = plan;
  if (approval === null || !approval.required) return null;
  if (approved(plan)) {
    return <p>{t("Approved by {names}.", { names: approval.approved_by.join(", ") })}</p>;
  }
  const names = approval.possible_by.join(", ");
  return (
    <Note tone="degraded">
      <span data-testid="approval-needed">
        {names === ""
          ? t({
              id: "deployments.somebody_else_must_approve_this",
              message:
                "Somebody else must approve this version, but nobody else here is an operator.",
            })
          : t(
              {
                id: "deployments.before_it_is_deployed_one",
                message: "Before it is deployed, one of them must approve this version: {names}.",
              },
              { names },
            )}
      </span>
    </Note>
  );
}

/** Whether the version may be deployed: the workspace requires no tests, or all of them have passed. */
export function tested({ tests }: Pick<StatePlan, "tests">): boolean {
  return tests === null || !tests.required || (tests.passed > 0 && tests.missing.length === 0);
}

/** Which tests must pass, with the way to them, or have passed only with doubles. */
export function TestsNote(props: {
  plan: Pick<StatePlan, "tests" | "version">;
  /** Closes the dialog, to run the tests. */
  onLeave: () => void;
}) {
  const { onLeave, plan } = props;
  const { tests } = plan;
  const another = useEditing((state) => state.changed || state.baseVersion !== plan.version);
  if (tests === null || !tests.required) return null;
  const { doubled, doubles, missing, passed } = tests;
  if (!tested(plan)) {
    return (
      <Note tone="degraded">
        <span data-testid="tests-needed">
          {missing.length === 0
            ? t({
                id: "deployments.version_needs_a_test",
                message: "This workspace deploys only tested versions, and there is no test.",
              })
            : t(
                {
                  id: "deployments.tests_must_pass_first",
                  message:
                    "Before it is deployed, these tests must pass with this version: {names}.",
                },
                { names: missing.join(", ") },
              )}{" "}
          {another
            ? t("The canvas shows another one: restore version {n} first.", { n: plan.version })
            : null}
        </span>
        <Button
          variant="subtle"
          px={8}
          onClick={() => {
            onLeave();
            void openTests();
          }}
          data-testid="open-tests"
        >
          {t("Open the tests")}
        </Button>
      </Note>
    );
  }
  return (
    <p data-testid="tests-passed">
      {t("{n} {n, plural, one {test has} other {tests have}} passed.", { n: passed })}
      {doubled.length === 0
        ? null
        : ` ${t("With doubles for {nodes}, and not without: {names}.", { nodes: doubles.join(", "), names: doubled.join(", ") })}`}
    </p>
  );
}

/** The environment, and the values of the topology's parameters, where they change. */
export function Values({ plan }: { plan: Pick<StatePlan, "environments" | "parameters"> }) {
  const { environments, parameters } = plan;
  if (environments.old === environments.new && parameters.length === 0) return null;
  const text = (value: unknown) =>
    value === null ? "–" : typeof value === "string" ? value : JSON.stringify(value);
  return (
    <table className={classes.places} data-testid="change-values">
      <thead>
        <tr>
          <th>{t("Parameter")}</th>
          <th>{environments.old ?? t("Defaults")}</th>
          <th>{environments.new ?? t("Defaults")}</th>
        </tr>
      </thead>
      <tbody>
        {parameters.map((each) => (
          <tr key={each.name}>
            <td>{each.name}</td>
            <td>{text(each.old)}</td>
            <td>
              {text(each.new)}
              {each.by_default ? (
                <span className={classes.unset}>
                  {" "}
                  {t("default: {environment} has no value", {
                    environment: environments.new ?? "",
                  })}
                </span>
              ) : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The expressions among decisions, by store. */
function expressionsOf(decisions: Decisions): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(decisions).flatMap(([id, each]) =>
      typeof each === "string" ? [] : [[id, each.convert]],
    ),
  );
}

interface StoreProps {
  readonly store: StoreChange;
  readonly typed: string;
  readonly onTyped: (text: string) => void;
  readonly expression: string;
  readonly onExpression: (text: string) => void;
  readonly refusal: string | null;
}

function Store(props: StoreProps) {
  const { store, expression } = props;
  const needed = undecidedOne(store) && expression.trim() === "";
  return (
    <div className={classes.row} data-testid="change-store" data-verdict={store.verdict}>
      <span className={classes.name} title={store.name}>
        {store.name}
      </span>
      <div className={classes.what}>
        <strong>{t(VERDICTS[store.verdict])}</strong>
        {store.reasons.map((reason) => (
          <span key={reason}>{reasonText(reason)}</span>
        ))}
        {store.new === null ? <span>{t("This version has no such store.")}</span> : null}
        {differences(store).map((each) => (
          <code key={each} className={classes.types}>
            {each}
          </code>
        ))}
        {store.rows === null ? null : (
          <span>
            {t("{n} {n, plural, one {row} other {rows}}", { n: exact(store.rows) })}
            {store.bytes === null ? "" : ` · ${bytes(store.bytes)}`}
          </span>
        )}
        {store.convertible ? (
          <TextInput
            label={t("Convert its values with a SQL expression over old")}
            placeholder={`CAST(old AS ${store.new?.values.join(", ") ?? ""})`}
            value={expression}
            error={props.refusal}
            onChange={(event) => props.onExpression(event.currentTarget.value)}
            autoComplete="off"
          />
        ) : null}
        {needed ? (
          <TextInput
            label={
              decisionOf(store) === "drop"
                ? t("Type its name to drop it")
                : t("Type its name to reset it")
            }
            placeholder={store.name}
            value={props.typed}
            onChange={(event) => props.onTyped(event.currentTarget.value)}
            autoComplete="off"
          />
        ) : null}
      </div>
    </div>
  );
}

function undecidedOne(store: StoreChange): boolean {
  return store.verdict === "lost" || store.verdict === "incompatible";
}

/** Kind, types, windows and tasks, before and after, where they differ. */
function differences({ old, new: now }: StoreChange): string[] {
  if (old === null || now === null) return [];
  const pairs = [
    [old.kind, now.kind],
    [old.key, now.key],
    [old.values.join(", "), now.values.join(", ")],
    [windowText(old.windows), windowText(now.windows)],
    [tasksText(old.tasks), tasksText(now.tasks)],
  ];
  return pairs.filter(([from, to]) => from !== to).map((pair) => pair.join(" → "));
}

/** A window's type, and its size, advance or gap. */
function windowText(windows: unknown): string {
  if (windows === null || typeof windows !== "object") return "–";
  const parts = Object.entries(windows).map(([name, value]) =>
    name === "type" ? String(value) : `${name} ${typeof value === "number" ? span(value) : value}`,
  );
  return parts.join(" ");
}

function tasksText(tasks: number | null): string {
  return tasks === null ? "–" : t("{n} {n, plural, one {task} other {tasks}}", { n: tasks });
}

const WARNINGS: Readonly<Record<StatePlan["warnings"][number]["code"], Phrase>> = {
  counted_again: phrase({
    id: "deployments.stores_keep_their_rows",
    message:
      "The stores keep their rows: records that are read again are counted again, and those of windows that have closed are dropped as late.",
  }),
  written_again: phrase({
    id: "deployments.results_of_records_that_are_read",
    message: "Results of records that are read again are written to the sinks again.",
  }),
  skipped: phrase({
    id: "deployments.records_between_position_where",
    message: "Records between the position where it stopped and the start position are not read.",
  }),
  begins_empty: phrase({
    id: "deployments.all_stores_start_empty",
    message: "All stores start empty: they do not include records before the start offsets.",
  }),
};
