import { useEffect, useMemo } from "react";
import { canvas } from "../designer/canvasApi";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import { findNode, labelOf } from "../graph/document";
import { type Coverage, coverable, missed, type Way } from "./coverage";
import classes from "./simulate.module.css";
import { t } from "./texts";

/** How far the tests went; while it is shown, the canvas marks what they left out. */
export function CoverageNote({ coverage }: { coverage: Coverage }) {
  const document = useDesigner((state) => state.document);
  const all = useMemo(() => coverable(document), [document]);
  const left = useMemo(() => missed(document, coverage), [document, coverage]);
  useEffect(() => {
    useSimulated.getState().show({ missed: { nodes: left.nodes, edges: left.edges } });
    return () => useSimulated.getState().show({ missed: null });
  }, [left]);
  const ratio = (kind: keyof Coverage) => ({
    n: all[kind].size - left[kind].size,
    all: all[kind].size,
  });
  const name = (id: string) => {
    const node = findNode(document, id);
    return node === undefined ? id : labelOf(node);
  };
  const ways = [...left.ways].map((each) => {
    const at = each.lastIndexOf("/");
    return { id: each, node: each.slice(0, at), way: each.slice(at + 1) as Way };
  });
  return (
    <div className={classes.coverage} data-testid="coverage">
      <span className="m-figures">
        {[
          t("coveredNodes", ratio("nodes")),
          t("coveredEdges", ratio("edges")),
          ...(all.ways.size === 0 ? [] : [t("coveredWays", ratio("ways"))]),
        ].join(" · ")}
      </span>
      {left.nodes.size + ways.length === 0 ? null : (
        <ul>
          {[...left.nodes].map((id) => (
            <li key={id}>
              <button type="button" onClick={() => canvas()?.reveal(id)}>
                {t("missedNode", { node: name(id) })}
              </button>
            </li>
          ))}
          {ways.map(({ id, node, way }) => (
            <li key={id}>
              <button type="button" onClick={() => canvas()?.reveal(node)}>
                {t("missedWay", { node: name(node), way: t(`way_${way}`) })}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
