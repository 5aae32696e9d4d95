import { Button, CopyButton } from "@mantine/core";
import { useState } from "react";
import type { Plan, Subtopology } from "../api/types";
import { planText } from "../designer/localize";
import { useDesigner } from "../designer/store";
import { runsText } from "../designer/words";
import { areasOf } from "../graph/areas";
import { type DocumentNode, isStoreKind, labelOf, paramsOf } from "../graph/document";
import { inOrder } from "../graph/order";
import { Chip, Empty, Segments } from "../ui";
import { type Phrase, phrase, t } from "../ui/i18n";
import classes from "./plan.module.css";

type Shape = "tables" | "text";

/** The physical plan: sub-topologies, tasks, stores and internal topics. */
export function PlanPanel() {
  const plan = useDesigner((state) => state.result?.plan ?? null);
  const [shape, setShape] = useState<Shape>("tables");
  if (plan === null) {
    return (
      <Empty title={t("No plan yet")}>
        {t({
          id: "plan.once_topology_compiles_its_sub",
          message:
            "Once the topology compiles, its sub-topologies, tasks and internal topics are listed here.",
        })}
      </Empty>
    );
  }
  const tasks = plan.subtopologies.reduce((sum, each) => sum + each.tasks, 0);
  return (
    <div className="ui-panel" data-testid="plan">
      <div className={classes.bar}>
        <Segments<Shape>
          label={t("View")}
          value={shape}
          onChange={setShape}
          items={[
            { id: "tables", title: t("Overview") },
            { id: "text", title: t("Describe") },
          ]}
        />
        <span className="ui-space" />
        {shape === "text" ? (
          <CopyButton value={plan.text}>
            {({ copied, copy }) => (
              <Button variant="subtle" onClick={copy}>
                {copied ? t("Copied") : t("Copy")}
              </Button>
            )}
          </CopyButton>
        ) : (
          <>
            <Chip>
              {t("{n} {n, plural, one {sub-topology} other {sub-topologies}}", {
                n: plan.subtopologies.length,
              })}
            </Chip>
            <Chip>
              {plan.topics.some((topic) => topic.known === "assumed")
                ? t("{n} {n, plural, one {task} other {tasks}}, assumed", { n: tasks })
                : t("{n} {n, plural, one {task} other {tasks}}", { n: tasks })}
            </Chip>
          </>
        )}
      </div>
      <div className={`ui-scroll m-scroll`}>
        {shape === "text" ? (
          <pre className={classes.text} data-testid="describe">
            {plan.text}
          </pre>
        ) : (
          <>
            <Subtopologies plan={plan} />
            <InternalTopics plan={plan} />
          </>
        )}
      </div>
    </div>
  );
}

function Subtopologies({ plan }: { plan: Plan }) {
  const document = useDesigner((state) => state.document);
  const areas = areasOf(document, plan);
  const ordered = inOrder(document);
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th>{t("Sub-topology")}</th>
          <th className={classes.right}>{t("Tasks")}</th>
          <th>{t("Reads")}</th>
          <th>{t("Nodes")}</th>
          <th>{t("Stores")}</th>
          <th>{t("Writes")}</th>
        </tr>
      </thead>
      <tbody>
        {plan.subtopologies.map((each) => (
          <Row
            key={each.id}
            area={each}
            plan={plan}
            nodes={ordered.filter((node) => areas.get(each.id)?.has(node.id))}
          />
        ))}
      </tbody>
    </table>
  );
}

function Row(props: { area: Subtopology; plan: Plan; nodes: readonly DocumentNode[] }) {
  const { area, nodes, plan } = props;
  return (
    <tr>
      <td className="m-figures">{area.id}</td>
      <td className={`${classes.right} m-figures`}>{area.tasks}</td>
      <td>
        <Sources area={area} plan={plan} />
      </td>
      <td>
        <span className={classes.nodes}>
          {nodes
            .filter((node) => !isStoreKind(node.kind))
            .map((node) => (
              <NodeLink key={node.id} node={node} plan={plan} />
            ))}
        </span>
      </td>
      <td>
        <span className={classes.nodes}>
          {nodes
            .filter((node) => isStoreKind(node.kind))
            .map((node) => (
              <NodeLink key={node.id} node={node} plan={plan} />
            ))}
        </span>
      </td>
      <td className="m-mono">{list(area.sinks)}</td>
    </tr>
  );
}

const KNOWN: Readonly<Record<string, Phrase>> = {
  broker: phrase({
    id: "plan.partitions_on_broker",
    message: "{n} {n, plural, one {partition} other {partitions}} (on the broker)",
  }),
  declared: phrase({
    id: "plan.partitions_declared_by_topology",
    message: "{n} {n, plural, one {partition} other {partitions}} (declared by the topology)",
  }),
  assumed: phrase({
    id: "plan.partitions_assumed",
    message: "{n} {n, plural, one {partition} other {partitions}} (assumed)",
  }),
};

/** The topics that a sub-topology reads, with their partitions and where these are from. */
function Sources({ area, plan }: { area: Subtopology; plan: Plan }) {
  if (area.sources.length === 0) return "–";
  return area.sources.map((name) => {
    const topic = plan.topics.find((each) => each.name === name);
    const known = topic === undefined ? undefined : KNOWN[topic.known];
    return (
      <div key={name}>
        <span className="m-mono">{name}</span>
        {topic === undefined || known === undefined ? null : (
          <small className={classes.known} data-testid="plan-partitions">
            {t(known, { n: topic.partitions })}
          </small>
        )}
      </div>
    );
  });
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "–" : names.join(", ");
}

function NodeLink({ node, plan }: { node: DocumentNode; plan: Plan }) {
  const how = plan.nodes[node.id];
  const { name } = paramsOf(node);
  const { catalog, goTo, setHovered } = useDesigner.getState();
  return (
    <button
      type="button"
      className={classes.node}
      title={
        how?.guarantee == null
          ? undefined
          : `${runsText(how.runs_as)}: ${planText(catalog, node.kind, "guarantee", how.guarantee)}`
      }
      onClick={() => goTo(node.id)}
      onPointerEnter={() => setHovered(node.id)}
      onPointerLeave={() => setHovered(null)}
    >
      {isStoreKind(node.kind) && typeof name === "string" && name !== "" ? name : labelOf(node)}
      {how === undefined ? null : <small>{runsText(how.runs_as)}</small>}
    </button>
  );
}

function InternalTopics({ plan }: { plan: Plan }) {
  if (plan.internal_topics.length === 0) return null;
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th>{t("Internal topic")}</th>
          <th>{t("Kind")}</th>
          <th className={classes.right}>{t("Partitions")}</th>
        </tr>
      </thead>
      <tbody>
        {plan.internal_topics.map((topic) => (
          <tr key={topic.name}>
            <td className="m-mono">{topic.name}</td>
            <td>{topic.kind === "repartition" ? t("repartition") : t("changelog")}</td>
            <td className={`${classes.right} m-figures`}>{topic.partitions}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
