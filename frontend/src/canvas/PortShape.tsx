import type { ReactNode } from "react";
import type { Role } from "../graph/catalog";

const STREAM = <circle cx="6" cy="6" r="4.6" />;
const SHAPES: Readonly<Partial<Record<Role, ReactNode>>> = {
  store: <path d="M6 1 11 6 6 11 1 6Z" />,
  global_table: (
    <>
      <rect x="1" y="1" width="10" height="10" rx="1" />
      <rect x="3.7" y="3.7" width="4.6" height="4.6" />
    </>
  ),
  windowed_table: <path d="M1.5 1.5H4.4V4.6H7.6V1.5H10.5V10.5H1.5Z" />,
  table: <rect x="1.5" y="1.5" width="9" height="9" rx="1" />,
};

/** Shape by role: circle for a stream, square table, notched windowed table, double global table, diamond store. */
export function PortShape({ flow }: { flow: Role }) {
  return (
    <svg className="port-shape" viewBox="0 0 12 12" aria-hidden="true">
      {SHAPES[flow] ?? STREAM}
    </svg>
  );
}
