import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import { keptText } from "../designer/sentences";
import { useDesigner } from "../designer/store";
import { labelOf, paramsOf } from "../graph/document";
import { STORE_HEIGHT, STORE_WIDTH } from "../graph/geometry";
import { bytes, count } from "../ui/format";
import { t } from "../ui/i18n";
import { CommentBadge } from "./CommentBadge";
import type { OperatorFlowNode } from "./flow";
import { showNodeFigures } from "./liveFigures";
import { ProblemBadge, troubleOf, useSummary } from "./OperatorNode";
import { PortShape } from "./PortShape";

const RIM = 7;

/** The number of rows in a store, written directly into the DOM. */
function StoreFigures({ node }: { node: string }) {
  const box = useRef<HTMLSpanElement>(null);
  useEffect(
    () =>
      showNodeFigures(node, (figures) => {
        if (box.current === null) return;
        const rows = figures?.storeRows ?? null;
        box.current.textContent =
          rows === null ? "" : t("{n} {n, plural, one {row} other {rows}}", { n: count(rows) });
        const size = figures?.storeBytes ?? null;
        box.current.title = size === null ? "" : bytes(size);
      }),
    [node],
  );
  return <span className="store-figures m-figures" ref={box} />;
}

/** A store, drawn as a cylinder below the node that uses it. */
export const StoreNode = memo(function StoreNode({ data, id }: NodeProps<OperatorFlowNode>) {
  const { node } = data;
  const runtime = useDesigner((state) => state.layer === "runtime");
  const summary = useSummary(id);
  const kept = useDesigner((state) => {
    const sentence = state.result?.summary[id];
    return sentence === undefined ? undefined : keptText(sentence);
  });
  const lit = useDesigner((state) => state.hovered === id);
  const trouble = useDesigner((state) => troubleOf(state, id));
  const name = paramsOf(node).name;
  const shown = typeof name === "string" && name !== "" ? name : labelOf(node);
  const w = STORE_WIDTH - 1;
  const h = STORE_HEIGHT - 1;
  return (
    <div className="store" data-trouble={trouble} data-lit={lit || undefined}>
      <svg width={STORE_WIDTH} height={STORE_HEIGHT} aria-hidden="true">
        <path
          className="store-body"
          d={`M.5 ${RIM}V${h - RIM}A${w / 2} ${RIM} 0 0 0 ${w} ${h - RIM}V${RIM}`}
        />
        <ellipse
          className="store-lid"
          cx={w / 2 + 0.25}
          cy={RIM + 0.5}
          rx={w / 2 - 0.25}
          ry={RIM}
        />
      </svg>
      <div className="store-text">
        <span className="store-name m-cut" title={summary ?? shown}>
          {shown}
        </span>
        {runtime ? (
          <StoreFigures node={id} />
        ) : kept === undefined ? null : (
          <span className="store-figures">{kept}</span>
        )}
      </div>
      <ProblemBadge node={id} />
      <CommentBadge node={id} />
      <Handle
        id="out"
        type="source"
        position={Position.Top}
        className="port"
        data-side="store"
        data-role="store"
        role="img"
        title={t("Connect to the node that uses this store")}
        aria-label={t("Connect to the node that uses this store")}
      >
        <PortShape flow="store" />
      </Handle>
    </div>
  );
});
