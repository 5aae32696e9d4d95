import { useConnection, useStore } from "@xyflow/react";
import { knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import { refusalText } from "../designer/words";
import { portsOf } from "../graph/catalog";
import { refusal } from "../graph/connect";
import { findNode } from "../graph/document";

/** The reason why a wire does not fit the port under the pointer, shown beside the pointer. */
export function ConnectionHint() {
  const hint = useConnection((connection) => {
    if (!connection.inProgress || connection.toHandle === null || connection.isValid === true) {
      return null;
    }
    const { fromHandle, fromNode, toHandle } = connection;
    const state = useDesigner.getState();
    if (state.catalog === null) return null;
    if (toHandle.nodeId === fromNode.id && toHandle.id === fromHandle.id) return null;
    const here = { node: fromNode.id, port: fromHandle.id ?? "out" };
    const there = { node: toHandle.nodeId, port: toHandle.id ?? "in" };
    const [from, to] = fromHandle.type === "source" ? [here, there] : [there, here];
    const target = findNode(state.document, to.node);
    const isInput =
      target !== undefined &&
      portsOf(state.catalog, target).some(
        (port) => port.side !== "output" && port.name === to.port,
      );
    const reason = isInput
      ? refusal(state.document, state.catalog, knownRoles(state), from, to)
      : ({ code: "not_an_input" } as const);
    if (reason === null) return null;
    return `${Math.round(toHandle.x)} ${Math.round(toHandle.y)} ${refusalText(reason)}`;
  });
  if (hint === null) return null;
  const [x = "0", y = "0", ...words] = hint.split(" ");
  return <HintAt x={Number(x)} y={Number(y)} text={words.join(" ")} />;
}

function HintAt(props: { x: number; y: number; text: string }) {
  const [left, top, zoom] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const x = Math.max(8, Math.min(props.x * zoom + left + 14, width - 272));
  const y = props.y * zoom + top + 16;
  return (
    <div className="wire-hint" role="status" style={{ transform: `translate(${x}px, ${y}px)` }}>
      {props.text}
    </div>
  );
}
