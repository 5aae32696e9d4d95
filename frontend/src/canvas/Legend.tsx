import "./legend.css";
import type { ReactNode } from "react";
import { TASK_STATES, type TaskState } from "../designer/runtime";
import { roleText } from "../designer/words";
import type { Role } from "../graph/catalog";
import { type Phrase, phrase, t } from "../ui/i18n";
import { PortShape } from "./PortShape";

const PORTS: readonly Role[] = ["stream", "table", "windowed_table", "global_table", "store"];

const BADGES = [
  ["error", phrase("errors of the node")],
  ["warning", phrase("warnings of the node")],
  ["missing", phrase("fields to fill in")],
] as const;

function Part({ children, title }: { children: ReactNode; title: Phrase }) {
  return (
    <section>
      <h3>{t(title)}</h3>
      <ul>{children}</ul>
    </section>
  );
}

/** A sign of the canvas and what it means. */
function Sign({ children, text }: { children: ReactNode; text: string }) {
  return (
    <li>
      <span className="legend-sign" aria-hidden="true">
        {children}
      </span>
      {text}
    </li>
  );
}

function Heat({ kind, text }: { kind: "amount" | "trouble"; text: Phrase }) {
  return (
    <Sign text={t(text)}>
      <span className="legend-heat" data-kind={kind} />
    </Sign>
  );
}

/** What the shapes, marks and colors of the canvas mean. */
export function Legend() {
  return (
    <div className="legend" data-testid="legend">
      <Part title={phrase("Ports and nodes")}>
        {PORTS.map((role) => (
          <Sign key={role} text={roleText(role)}>
            <PortShape flow={role} />
          </Sign>
        ))}
        <Sign text={t("double border: gives a table")}>
          <span className="legend-table" />
        </Sign>
      </Part>
      <Part title={phrase("Marks")}>
        <Sign text={t("goes through a repartition topic")}>
          <svg aria-hidden="true" viewBox="-8 -8 16 16" className="edge-shuffle">
            <path d="M-2 -5V5M2 -5V5" />
          </svg>
        </Sign>
        <Sign text={t("the key changed")}>
          <svg aria-hidden="true" viewBox="-8 -8 16 16" className="edge-key">
            <circle r={7} />
            <circle cx={-1.9} r={2.1} />
            <path d="M.2 0H4.4M4.2 0V1.9M2.5 0V1.4" />
          </svg>
        </Sign>
        <Sign text={t("pinned records")}>
          <svg aria-hidden="true" viewBox="-8 -8 16 16" className="edge-pin">
            <path d="M0 2V6M-3.5 2H3.5M-2 -5H2L1.5 -1L3 2H-3L-1.5 -1Z" />
          </svg>
        </Sign>
        {BADGES.map(([severity, text]) => (
          <Sign key={severity} text={t(text)}>
            <span className="node-badge" data-severity={severity}>
              1
            </span>
          </Sign>
        ))}
        <Sign text={t("open comments")}>
          <span className="node-comments m-figures">1</span>
        </Sign>
      </Part>
      <Part title={phrase("Tasks of a running node")}>
        {(Object.entries(TASK_STATES) as [TaskState, Phrase][]).map(([state, text]) => (
          <Sign key={state} text={t(text)}>
            <span className="task-bars">
              <i data-state={state} />
            </span>
          </Sign>
        ))}
        <li className="legend-note">{t("The height is the share of the busiest task's rate.")}</li>
      </Part>
      <Part title={phrase("Heat map")}>
        <Heat kind="amount" text={phrase("little to much")} />
        <Heat kind="trouble" text={phrase("good to bad")} />
        <li className="legend-note">
          {t({
            id: "canvas.choice_of_figure_is_in_runtime",
            message: "The figure is chosen in the layer Runtime, where the scale has its values.",
          })}
        </li>
      </Part>
    </div>
  );
}
