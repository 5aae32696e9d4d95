import { useEffect, useMemo } from "react";
import { canvas } from "../designer/canvasApi";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import { findNode, labelOf } from "../graph/document";
import type { Way } from "../graph/kinds";
import { type Phrase, phrase, t } from "../ui/i18n";
import { type Coverage, coverable, missed } from "./coverage";
import classes from "./simulate.module.css";

const WAYS: Readonly<Record<Way, Phrase>> = {
  filtered: phrase("nothing was filtered out"),
  no_branch: phrase("every record matched a branch"),
  no_match: phrase("the table always had a row"),
  late: phrase("no record was late"),
  null_key: phrase("no key was null"),
  skipped_timestamp: phrase("no timestamp was invalid"),
  deserialization: phrase("all bytes could be read"),
};

/** The coverage of the tests. While it is shown, the canvas marks what no test covers. */
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
          t("{n} of {all} nodes", ratio("nodes")),
          t("{n} of {all} edges", ratio("edges")),
          ...(all.ways.size === 0
            ? []
            : [t("{n} of {all} ways in which records end", ratio("ways"))]),
        ].join(" · ")}
      </span>
      {left.nodes.size + ways.length === 0 ? null : (
        <ul>
          {[...left.nodes].map((id) => (
            <li key={id}>
              <button type="button" onClick={() => canvas()?.reveal(id)}>
                {t("{node}: no record reached this node", { node: name(id) })}
              </button>
            </li>
          ))}
          {ways.map(({ id, node, way }) => (
            <li key={id}>
              <button type="button" onClick={() => canvas()?.reveal(node)}>
                {t("{node}: {way}", { node: name(node), way: t(WAYS[way]) })}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
