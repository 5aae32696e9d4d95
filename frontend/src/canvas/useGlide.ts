import { useCallback, useRef } from "react";
import type { Position } from "../graph/document";
import type { FlowNode } from "./flow";

const GLIDE_MS = 160;
/** Above this many nodes, an animation would stutter, and the nodes jump instead. */
const GLIDE_NODES = 200;

/** Animates nodes and their edges to new positions in 160 ms. */
export function useGlide(setNodes: (how: (nodes: FlowNode[]) => FlowNode[]) => void) {
  const frame = useRef(0);
  return useCallback(
    (positions: ReadonlyMap<string, Position>) =>
      new Promise<void>((done) => {
        cancelAnimationFrame(frame.current);
        const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
        if (still || positions.size > GLIDE_NODES) {
          done();
          return;
        }
        const from = new Map<string, Position>();
        const start = performance.now();
        const step = (now: number) => {
          const part = Math.min(1, (now - start) / GLIDE_MS);
          const eased = 1 - (1 - part) ** 3;
          setNodes((nodes) =>
            nodes.map((node) => {
              const to = positions.get(node.id);
              if (to === undefined) return node;
              const old = from.get(node.id) ?? node.position;
              from.set(node.id, old);
              return {
                ...node,
                position: { x: old.x + (to.x - old.x) * eased, y: old.y + (to.y - old.y) * eased },
              };
            }),
          );
          if (part < 1) frame.current = requestAnimationFrame(step);
          else done();
        };
        frame.current = requestAnimationFrame(step);
      }),
    [setNodes],
  );
}
