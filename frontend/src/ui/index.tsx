/** Small components shared by the whole page. Prefer Mantine's components, which `theme/` styles. */

import "./ui.css";
import { Tooltip, type TooltipProps } from "@mantine/core";
import { type KeyboardEvent, type ReactElement, type ReactNode, useRef } from "react";

export type Tone = "neutral" | "accent" | "running" | "starting" | "degraded" | "failed";
export type DotState =
  | "running"
  | "asleep"
  | "starting"
  | "degraded"
  | "failed"
  | "stopped"
  | "unknown";

/** A short fact in a rounded box. */
export function Chip(props: {
  tone?: Tone;
  children: ReactNode;
  title?: string;
  className?: string;
}) {
  return (
    <span
      className={props.className === undefined ? "ui-chip" : `ui-chip ${props.className}`}
      data-tone={props.tone ?? "neutral"}
      title={props.title}
    >
      {props.children}
    </span>
  );
}

/** State as a shape and a color; name the state beside it or in `label`. */
export function StateDot(props: { state: DotState; label?: string }) {
  return props.label === undefined ? (
    <span className="ui-dot" data-state={props.state} aria-hidden="true" />
  ) : (
    <span className="ui-dot" data-state={props.state} role="img" aria-label={props.label} />
  );
}

interface TabItem<Id extends string = string> {
  readonly id: Id;
  readonly title: string;
  readonly badge?: ReactNode;
}

/** A row of tabs; arrows move between them, as in the ARIA pattern. */
export function Tabs<Id extends string>(props: {
  items: readonly TabItem<Id>[];
  active: Id | null;
  onChange: (id: Id) => void;
  label: string;
  right?: ReactNode;
  idPrefix: string;
}) {
  const row = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = props.items.findIndex((item) => item.id === props.active);
    const next = props.items[(at + step + props.items.length) % props.items.length];
    if (next === undefined) return;
    props.onChange(next.id);
    row.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div className="ui-tabs">
      <div ref={row} role="tablist" aria-label={props.label} onKeyDown={move}>
        {props.items.map((item, index) => (
          <button
            key={item.id}
            type="button"
            role="tab"
            className="ui-tab"
            data-tab={item.id}
            id={`${props.idPrefix}-${item.id}`}
            aria-selected={item.id === props.active}
            tabIndex={item.id === props.active || (props.active === null && index === 0) ? 0 : -1}
            onClick={() => props.onChange(item.id)}
          >
            {item.title}
            {item.badge}
          </button>
        ))}
      </div>
      {props.right === undefined ? null : <div className="ui-tabs-right">{props.right}</div>}
    </div>
  );
}

/** A choice between a few visible options; arrows select the next one, as in the ARIA pattern. */
export function Segments<Id extends string>(props: {
  items: readonly { id: Id; title: string; hint?: string; disabled?: boolean }[];
  /** Null: none is chosen yet. */
  value: Id | null;
  onChange: (id: Id) => void;
  label: string;
}) {
  const { items, label, onChange, value } = props;
  const row = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const back = event.key === "ArrowLeft" || event.key === "ArrowUp";
    if (!back && event.key !== "ArrowRight" && event.key !== "ArrowDown") return;
    event.preventDefault();
    const open = items.filter((item) => item.disabled !== true);
    const at = open.findIndex((item) => item.id === value);
    const next = open[(at + (back ? -1 : 1) + open.length) % open.length];
    if (next === undefined) return;
    onChange(next.id);
    row.current?.querySelector<HTMLElement>(`[data-segment="${next.id}"]`)?.focus();
  };
  return (
    <div ref={row} className="ui-segments" role="radiogroup" aria-label={label} onKeyDown={move}>
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a radio input cannot be styled as a segment
        <button
          key={item.id}
          type="button"
          role="radio"
          aria-checked={item.id === value}
          tabIndex={item.id === value || (value === null && index === 0) ? 0 : -1}
          className="ui-segment"
          data-segment={item.id}
          title={item.hint}
          disabled={item.disabled}
          onClick={() => onChange(item.id)}
        >
          {item.title}
        </button>
      ))}
    </div>
  );
}

/** Text in one line, complete on hover. */
export function Cut({ children, mono = false }: { children: string; mono?: boolean }) {
  return (
    <span className={mono ? "m-mono m-cut" : "m-cut"} title={children}>
      {children}
    </span>
  );
}

/** An empty state: explains what is missing, with a button that creates it. */
export function Empty(props: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="ui-empty">
      <p className="ui-empty-title">{props.title}</p>
      {props.children === undefined ? null : <p>{props.children}</p>}
      {props.action}
    </div>
  );
}

/** A sentence in a tinted box. */
export function Note(props: { tone?: Tone; icon?: ReactNode; children: ReactNode }) {
  return (
    <div
      className="ui-note"
      data-tone={props.tone ?? "neutral"}
      role={props.tone === "failed" ? "alert" : undefined}
    >
      {props.icon}
      <div>{props.children}</div>
    </div>
  );
}

const mac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** A shortcut in the notation of this platform: `Mod+Shift+K` is `Ctrl Shift K` or `⌘ ⇧ K`. */
function shortcutText(keys: string): string {
  return keys
    .split(/\+(?=.)/)
    .map((key) => {
      if (key === "Mod") return mac ? "⌘" : "Ctrl";
      if (key === "Shift") return mac ? "⇧" : "Shift";
      if (key === "Alt") return mac ? "⌥" : "Alt";
      if (key === "ArrowLeft") return "←";
      if (key === "ArrowRight") return "→";
      if (key === "ArrowUp") return "↑";
      if (key === "ArrowDown") return "↓";
      if (key === "Escape") return "Esc";
      return key.length === 1 ? key.toUpperCase() : key;
    })
    .join(" ");
}

export function Keys(props: { keys: string }) {
  return <kbd className="ui-kbd">{shortcutText(props.keys)}</kbd>;
}

/** A hint on hover and focus, with the shortcut if there is one. */
export function Tip(props: {
  text: ReactNode;
  keys?: string | undefined;
  children: ReactElement;
  position?: TooltipProps["position"];
}) {
  return (
    <Tooltip
      position={props.position ?? "bottom"}
      label={
        props.keys === undefined ? (
          props.text
        ) : (
          <>
            {props.text} <span style={{ opacity: 0.65 }}>{shortcutText(props.keys)}</span>
          </>
        )
      }
    >
      {props.children}
    </Tooltip>
  );
}
