/** Where the ports of a node are, so that React Flow need not draw and measure every node before its wires. */

import { type NodeHandle, Position as Side } from "@xyflow/react";
import { type Catalog, type NodePort, portsOf } from "../graph/catalog";
import { type DocumentNode, isStoreKind, type Position as Place } from "../graph/document";
import { portTop, type Size, STORE_HEIGHT, STORE_WIDTH, sizeOfPorts } from "../graph/geometry";

/** Length of the square of a port, whose middle is on the inner edge of the node's border. */
const PORT = 12;
const BORDER = 1;

/** The place of a port on the border of its node, where the ways of wires begin and end, for the end of a drawn wire. */
export function onBorder({ x, y }: Place, side: "source" | "target"): Place {
  const beyond = PORT / 2 - BORDER;
  return { x: side === "source" ? x - beyond : x + beyond, y: y - BORDER };
}

interface Measured {
  readonly size: Size;
  readonly handles: NodeHandle[];
}

const known = new WeakMap<DocumentNode, { catalog: Catalog; measured: Measured }>();

/** The size and ports of a node on the canvas: the same object while the node and its ports are the same. */
export function measuredOf(catalog: Catalog, node: DocumentNode): Measured {
  const last = known.get(node);
  if (last?.catalog === catalog) return last.measured;
  const now = isStoreKind(node.kind) ? STORE : withPorts(portsOf(catalog, node));
  const before = last?.measured;
  const same = before !== undefined && JSON.stringify(before) === JSON.stringify(now);
  const measured = same ? before : now;
  known.set(node, { catalog, measured });
  return measured;
}

const STORE: Measured = {
  size: { width: STORE_WIDTH, height: STORE_HEIGHT },
  handles: [handle("out", "source", Side.Top, STORE_WIDTH / 2, 0)],
};

function withPorts(ports: readonly NodePort[]): Measured {
  const size = sizeOfPorts(ports);
  const handles = ports.map((port) => {
    if (port.side === "store") {
      return handle(port.name, "target", Side.Bottom, size.width / 2, size.height - BORDER);
    }
    const row = ports.filter(({ side }) => side === port.side);
    const top = BORDER + portTop(row.indexOf(port), row.length, size.height);
    return port.side === "input"
      ? handle(port.name, "target", Side.Left, BORDER, top)
      : handle(port.name, "source", Side.Right, size.width - BORDER, top);
  });
  return { size, handles };
}

function handle(
  id: string,
  type: "source" | "target",
  position: Side,
  x: number,
  y: number,
): NodeHandle {
  return { id, type, position, x: x - PORT / 2, y: y - PORT / 2, width: PORT, height: PORT };
}
