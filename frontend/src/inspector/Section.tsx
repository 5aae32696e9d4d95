import type { ReactNode } from "react";

/** A titled part of the inspector. */
export function Section(props: { title?: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="inspector-section">
      {props.title === undefined ? null : (
        <h3>
          {props.title}
          {props.aside === undefined ? null : <span className="m-muted">{props.aside}</span>}
        </h3>
      )}
      {props.children}
    </section>
  );
}
