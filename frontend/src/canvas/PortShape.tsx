import type { Role } from "../graph/catalog";

/** The shape shows the role: circle stream, square table, notched windowed, double global, diamond store. */
export function PortShape({ flow }: { flow: Role }) {
  if (flow === "store") {
    return (
      <svg className="port-shape" viewBox="0 0 12 12" aria-hidden="true">
        <path d="M6 1 11 6 6 11 1 6Z" />
      </svg>
    );
  }
  if (flow === "global_table") {
    return (
      <svg className="port-shape" viewBox="0 0 12 12" aria-hidden="true">
        <rect x="1" y="1" width="10" height="10" rx="1" />
        <rect x="3.7" y="3.7" width="4.6" height="4.6" />
      </svg>
    );
  }
  if (flow === "windowed_table") {
    return (
      <svg className="port-shape" viewBox="0 0 12 12" aria-hidden="true">
        <path d="M1.5 1.5H4.4V4.6H7.6V1.5H10.5V10.5H1.5Z" />
      </svg>
    );
  }
  if (flow === "table") {
    return (
      <svg className="port-shape" viewBox="0 0 12 12" aria-hidden="true">
        <rect x="1.5" y="1.5" width="9" height="9" rx="1" />
      </svg>
    );
  }
  return (
    <svg className="port-shape" viewBox="0 0 12 12" aria-hidden="true">
      <circle cx="6" cy="6" r="4.6" />
    </svg>
  );
}
