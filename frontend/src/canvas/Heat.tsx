import { Button, Select } from "@mantine/core";
import { useEffect, useState } from "react";
import { canvas } from "../designer/canvasApi";
import { useRecordsView } from "../designer/recordsView";
import { edgeWithRecords, type NodeFigures, useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { edgeId, type TopologyDocument } from "../graph/document";
import { type Phrase, phrase, t } from "../ui/i18n";

type Figure =
  | "none"
  | "rate"
  | "lag"
  | "latency"
  | "arrival"
  | "skew"
  | "dropped"
  | "dead_letters"
  | "rows"
  | "bytes";

const FIGURES: readonly { value: Figure; label: Phrase }[] = [
  { value: "none", label: phrase("No heat map") },
  { value: "rate", label: phrase("Heat: rate") },
  { value: "lag", label: phrase("Heat: lag") },
  { value: "latency", label: phrase("Heat: latency") },
  { value: "arrival", label: phrase("Heat: latency from arrival") },
  { value: "skew", label: phrase("Heat: skew of tasks") },
  { value: "dropped", label: phrase("Heat: dropped") },
  { value: "dead_letters", label: phrase("Heat: dead letters") },
  { value: "rows", label: phrase("Heat: state") },
  { value: "bytes", label: phrase("Heat: bytes of state") },
];

/** A node's value of the chosen figure; null if it has none. */
function heatOf(figures: NodeFigures, figure: Figure): number | null {
  if (figure === "rate") return Math.max(figures.inRate, figures.outRate);
  if (figure === "lag") return figures.lag;
  if (figure === "latency") return figures.latency?.event.p99 ?? null;
  if (figure === "arrival") return figures.latency?.arrival.p99 ?? null;
  if (figure === "skew") return skewOf(figures.tasks.map((task) => task.rate));
  if (figure === "dead_letters") return figures.deadLetters;
  if (figure === "rows") return figures.storeRows;
  if (figure === "bytes") return figures.storeBytes;
  if (figure === "dropped")
    return Object.values(figures.dropped).reduce((sum, each) => sum + each, 0);
  return null;
}

/** Skew of the tasks' rates: 0 if equal, 1 if one task has everything; null with one task or without known rates. */
function skewOf(rates: readonly (number | null)[]): number | null {
  const known = rates.filter((rate) => rate !== null);
  const sum = known.reduce((total, rate) => total + rate, 0);
  if (known.length < 2 || sum === 0) return null;
  const even = 1 / known.length;
  return (Math.max(...known) / sum - even) / (1 - even);
}

/** Heat of every node from 0 to 1, in proportion to the highest. */
export function heats(
  nodes: Readonly<Record<string, NodeFigures>>,
  figure: Figure,
): Map<string, number> {
  const values = Object.entries(nodes).flatMap(([id, figures]): [string, number][] => {
    const value = heatOf(figures, figure);
    return value === null ? [] : [[id, value]];
  });
  const top = Math.max(0, ...values.map(([, value]) => value));
  return new Map(values.map(([id, value]) => [id, top === 0 ? 0 : value / top]));
}

/** The edge whose keys explain the highest skew: into that node or, if it has no input, out of it. */
export function skewedEdge(
  document: TopologyDocument,
  nodes: Readonly<Record<string, NodeFigures>>,
): string | null {
  const hot = [...heats(nodes, "skew")].sort(([, a], [, b]) => b - a)[0];
  if (hot === undefined || hot[1] === 0) return null;
  const edges = document.edges.filter((edge) => edgeWithRecords(document, edgeId(edge)) !== null);
  const found =
    edges.find((edge) => edge.target === hot[0]) ?? edges.find((edge) => edge.source === hot[0]);
  return found === undefined ? null : edgeId(found);
}

/** Shows the most frequent keys at the node with the highest skew. */
function showKeys() {
  const { document, select } = useDesigner.getState();
  const edge = skewedEdge(document, useRuntime.getState().figures?.nodes ?? {});
  if (edge === null) return;
  select({ nodes: [], edges: [edge] });
  useRecordsView.setState({ shape: "keys" });
  useView.getState().openBottom("records");
}

function paint(figure: Figure) {
  const element = canvas()?.element();
  if (element === undefined) return;
  const nodes = useRuntime.getState().figures?.nodes ?? {};
  const heat = heats(nodes, figure);
  element.toggleAttribute("data-heat", figure !== "none");
  for (const node of element.querySelectorAll<HTMLElement>(".react-flow__node")) {
    node.style.setProperty("--heat", (heat.get(node.dataset.id ?? "") ?? 0).toFixed(3));
  }
}

/** Tints the nodes by a chosen figure, directly in the DOM. */
export function HeatSwitch() {
  const [figure, setFigure] = useState<Figure>("none");
  useEffect(() => {
    paint(figure);
    const stop = useRuntime.subscribe(() => paint(figure));
    return () => {
      stop();
      paint("none");
    };
  }, [figure]);
  return (
    <>
      <Select
        className="heat-switch"
        aria-label={t("Heat")}
        value={figure}
        onChange={(next) => setFigure((next ?? "none") as Figure)}
        data={FIGURES.map(({ value, label }) => ({ value, label: t(label) }))}
        w={190}
      />
      {figure === "skew" ? (
        <Button variant="subtle" onClick={showKeys} data-testid="hottest-keys">
          {t("Hottest keys")}
        </Button>
      ) : null}
    </>
  );
}
