import { Button, Select } from "@mantine/core";
import { useEffect, useState } from "react";
import { canvas } from "../designer/canvasApi";
import { useRecordsView } from "../designer/recordsView";
import { edgeWithRecords, type NodeFigures, useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { edgeId, type TopologyDocument } from "../graph/document";
import { t } from "../ui/i18n";
import { endsOf, type Figure, heats, SCALES } from "./heatScale";

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
  if (figure === "none") element.removeAttribute("data-heat");
  else element.dataset.heat = SCALES[figure].trouble === true ? "trouble" : "amount";
  for (const node of element.querySelectorAll<HTMLElement>(".react-flow__node")) {
    node.style.setProperty("--heat", (heat.get(node.dataset.id ?? "") ?? 0).toFixed(3));
  }
}

/** What the colors mean, from none to the strongest. */
function Legend({ figure }: { figure: Exclude<Figure, "none"> }) {
  const nodes = useRuntime((state) => state.figures?.nodes);
  const [low, high] = endsOf(nodes ?? {}, figure);
  const { meaning, trouble } = SCALES[figure];
  return (
    <div
      className="heat-legend m-figures"
      data-kind={trouble === true ? "trouble" : "amount"}
      role="img"
      aria-label={t("{meaning}: {low} to {high}", { meaning: t(meaning), low, high })}
      title={t(meaning)}
      data-testid="heat-legend"
    >
      <span>{low}</span>
      <i />
      <span>{high}</span>
      <small>{t(meaning)}</small>
    </div>
  );
}

/** Tints the nodes by a chosen figure, directly in the DOM. */
export function HeatSwitch() {
  const [figure, setFigure] = useState<Figure>("none");
  useEffect(() => {
    paint(figure);
    if (figure === "none") return;
    const stop = useRuntime.subscribe((now, before) => {
      if (now.figures !== before.figures) paint(figure);
    });
    return () => {
      stop();
      paint("none");
    };
  }, [figure]);
  return (
    <div className="heat-place">
      <Select
        className="heat-switch"
        aria-label={t("Heat")}
        value={figure}
        onChange={(next) => setFigure((next ?? "none") as Figure)}
        data={[
          { value: "none", label: t("No heat map") },
          ...Object.entries(SCALES).map(([value, { label }]) => ({ value, label: t(label) })),
        ]}
        w={190}
      />
      {figure === "skew" ? (
        <Button variant="subtle" onClick={showKeys} data-testid="hottest-keys">
          {t("Hottest keys")}
        </Button>
      ) : null}
      {figure === "none" ? null : <Legend figure={figure} />}
    </div>
  );
}
