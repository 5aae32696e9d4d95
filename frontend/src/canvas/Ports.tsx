import { Handle, Position, useConnection } from "@xyflow/react";
import { memo, useMemo } from "react";
import { knownRoles, type PortRoles } from "../designer/derived";
import { drawnOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { roleText } from "../designer/words";
import type { NodePort } from "../graph/catalog";
import { refusal } from "../graph/connect";
import { portTop } from "../graph/geometry";
import { phrase, t } from "../ui/i18n";
import { PortShape } from "./PortShape";

/** The start of the wire that is being pulled, as text so that only another wire causes a render. */
function usePulledWire(): string | null {
  return useConnection((connection) =>
    connection.inProgress
      ? `${connection.fromHandle.type} ${connection.fromNode.id} ${connection.fromHandle.id ?? ""}`
      : null,
  );
}

/** Whether the pulled wire may end in a port: `fits`, `refused`, or null while none is pulled. */
function fitOf(wire: string | null, node: string, port: NodePort): "fits" | "refused" | null {
  if (wire === null) return null;
  const [end, other = "", handle = ""] = wire.split(" ");
  if (other === node && handle === port.name) return null;
  const state = useDesigner.getState();
  if (state.catalog === null) return null;
  const isOutput = port.side === "output";
  if ((end === "source") === isOutput) return "refused";
  const here = { node, port: port.name };
  const there = { node: other, port: handle };
  const [from, to] = isOutput ? [here, there] : [there, here];
  const reason = refusal(state.document, state.catalog, knownRoles(state), from, to);
  return reason === null ? "fits" : "refused";
}

/** The ports of a node: inputs on the left, outputs on the right, the store port at the bottom. */
export const Ports = memo(function Ports(props: {
  node: string;
  ports: readonly NodePort[];
  roles: PortRoles;
  height: number;
}) {
  const { height, node, ports, roles } = props;
  const wire = usePulledWire();
  // A fragment is changed where it is drawn.
  const within = useDesigner((state) => drawnOf(state).owners.has(node));
  const rows = useMemo(
    () => ({
      input: ports.filter((port) => port.side === "input"),
      output: ports.filter((port) => port.side === "output"),
    }),
    [ports],
  );
  return (
    <>
      {ports.map((port) => {
        const role = roles[`${port.side}/${port.name}`] ?? "stream";
        const fit = fitOf(wire, node, port);
        const row = port.side === "store" ? [] : rows[port.side];
        const style =
          port.side === "store"
            ? undefined
            : { top: portTop(row.indexOf(port), row.length, height) };
        const named = row.length > 1 || port.side === "store";
        return (
          <Handle
            key={`${port.side}/${port.name}`}
            id={port.name}
            type={port.side === "output" ? "source" : "target"}
            position={
              port.side === "store"
                ? Position.Bottom
                : port.side === "input"
                  ? Position.Left
                  : Position.Right
            }
            style={style}
            isConnectable={!within}
            className="port"
            data-side={port.side}
            data-role={role}
            data-fit={fit ?? undefined}
            role="img"
            title={`${port.name}: ${roleText(role)}`}
            aria-label={t(
              port.side === "output"
                ? phrase("Output {name}, {role}")
                : phrase("Input {name}, {role}"),
              {
                name: port.name,
                role: roleText(role),
              },
            )}
          >
            <PortShape flow={role} />
            {named ? <span className="port-name">{port.name}</span> : null}
          </Handle>
        );
      })}
    </>
  );
});
