import type { PointerEvent as ReactPointerEvent } from "react";

/** The edge of a panel, to be dragged or moved with the arrow keys. */
export function Resizer(props: {
  side: "left" | "top";
  label: string;
  size: number;
  min: number;
  max: number;
  onResize: (size: number) => void;
  onDoubleClick?: () => void;
}) {
  const { label, max, min, onDoubleClick, onResize, side, size } = props;
  const resize = (preferred: number) =>
    onResize(Math.round(Math.min(max, Math.max(min, preferred))));
  const start = (event: ReactPointerEvent<HTMLDivElement>) => {
    event.preventDefault();
    const element = event.currentTarget;
    const from = side === "left" ? event.clientX : event.clientY;
    element.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent) =>
      resize(size + from - (side === "left" ? moved.clientX : moved.clientY));
    element.addEventListener("pointermove", move);
    element.addEventListener(
      "lostpointercapture",
      () => element.removeEventListener("pointermove", move),
      { once: true },
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a splitter is a focusable separator, an <hr> is not
    <div
      className="resizer"
      data-side={side}
      role="separator"
      aria-label={label}
      aria-orientation={side === "left" ? "vertical" : "horizontal"}
      aria-valuenow={size}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      data-own-keys=""
      onPointerDown={start}
      onDoubleClick={onDoubleClick}
      onKeyDown={(event) => {
        const grow = side === "left" ? "ArrowLeft" : "ArrowUp";
        const shrink = side === "left" ? "ArrowRight" : "ArrowDown";
        if (event.key === grow) resize(size + 24);
        else if (event.key === shrink) resize(size - 24);
        else return;
        event.preventDefault();
      }}
    />
  );
}
