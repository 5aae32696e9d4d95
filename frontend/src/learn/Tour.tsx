import "./learn.css";
import { Button } from "@mantine/core";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { endTour, showStep, useGuides } from "../commands/guides";
import { t } from "../ui/i18n";
import { useEscape } from "../ui/useEscape";
import { STEPS, type TourStep } from "./tourSteps";

/** Milliseconds between two looks at where the target is; panels move when they open. */
const LOOK_MS = 200;
const GAP = 12;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** What a step is about, and the nodes of the drawing, on the screen. */
interface Seen {
  readonly target: Box | null;
  readonly nodes: readonly Box[];
}

const boxOf = ({ height, left, top, width }: DOMRect): Box => ({ height, left, top, width });

/** The place of a step's target on the screen, null while there is none, and of the nodes. */
function useSeen(selector: string): Seen {
  const [seen, setSeen] = useState<Seen>({ target: null, nodes: [] });
  useLayoutEffect(() => {
    const look = () => {
      const found = document.querySelector(selector)?.getBoundingClientRect();
      const target = found === undefined || found.width === 0 ? null : boxOf(found);
      const nodes = [...document.querySelectorAll(".designer-canvas .react-flow__node")].map(
        (node) => boxOf(node.getBoundingClientRect()),
      );
      const now = { target, nodes };
      setSeen((before) => (JSON.stringify(before) === JSON.stringify(now) ? before : now));
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [selector]);
  return seen;
}

/** The area in which two boxes, and some air around the first one, cover each other. */
function shared(a: Box, b: Box): number {
  const side = (from: "left" | "top", size: "width" | "height") =>
    Math.min(a[from] + a[size] + GAP, b[from] + b[size]) - Math.max(a[from] - GAP, b[from]);
  return Math.max(0, side("left", "width")) * Math.max(0, side("top", "height"));
}

/** The distance of places that are tried, in pixels. */
const STEP = 24;

/**
 * Where the card covers least of what it explains: of the target, unless that fills the page, and of the nodes. Of such
 * places, the one nearest to the target.
 */
export function placeOfCard(
  target: Box | null,
  nodes: readonly Box[],
  card: { width: number; height: number },
): Box {
  const { innerHeight, innerWidth } = window;
  const wanted = placeOf(target, card);
  const fills = target !== null && target.width * target.height > (innerWidth * innerHeight) / 3;
  const covered = (at: Box) =>
    nodes.reduce((sum, node) => sum + shared(at, node), 0) +
    (target === null || fills ? 0 : shared(at, target) * 2);
  let [best, least, near] = [wanted, covered(wanted), 0];
  if (least === 0) return wanted;
  for (let top = GAP; top + card.height + GAP <= innerHeight; top += STEP) {
    for (let left = GAP; left + card.width + GAP <= innerWidth; left += STEP) {
      const at = { ...card, left, top };
      const area = covered(at);
      const far = Math.hypot(left - wanted.left, top - wanted.top);
      if (area < least || (area === least && far < near)) [best, least, near] = [at, area, far];
    }
  }
  return best;
}

/** Where the card has room: beside the target, or inside a target that fills the page. */
export function placeOf(target: Box | null, card: { width: number; height: number }): Box {
  const { innerHeight, innerWidth } = window;
  const within = (at: number, size: number, room: number) =>
    Math.max(GAP, Math.min(at, room - size - GAP));
  if (target === null) {
    return {
      ...card,
      left: within((innerWidth - card.width) / 2, card.width, innerWidth),
      top: within(innerHeight, card.height, innerHeight),
    };
  }
  const right = target.left + target.width + GAP;
  const left = target.left - card.width - GAP;
  const x =
    right + card.width + GAP <= innerWidth
      ? right
      : left >= GAP
        ? left
        : target.left + target.width - card.width - GAP;
  const above = target.top - card.height - GAP;
  const y = x === right || x === left ? target.top : above >= GAP ? above : target.top + GAP;
  return {
    ...card,
    left: within(x, card.width, innerWidth),
    top: within(y, card.height, innerHeight),
  };
}

/** The step of the tour that is shown, beside what it is about. */
export function Tour() {
  const step = useGuides((state) => state.step);
  const shown = step === null ? undefined : STEPS[step];
  return step === null || shown === undefined ? null : <Card at={step} step={shown} />;
}

function Card({ at, step }: { at: number; step: TourStep }) {
  const card = useRef<HTMLElement>(null);
  const next = useRef<HTMLButtonElement>(null);
  const { nodes, target } = useSeen(step.target);
  const [size, setSize] = useState({ width: 440, height: 160 });
  useEscape(true, endTour, useRef<HTMLElement>(null));
  useEffect(() => {
    step.open?.();
    next.current?.focus({ preventScroll: true });
  }, [step]);
  useLayoutEffect(() => {
    const found = card.current;
    if (found !== null && step !== null)
      setSize({ width: found.offsetWidth, height: found.offsetHeight });
  }, [step]);
  const { left, top } = useMemo(() => placeOfCard(target, nodes, size), [target, nodes, size]);
  const last = at === STEPS.length - 1;
  return (
    <>
      {target === null ? null : <div className="tour-target" style={{ ...target }} aria-hidden />}
      <section
        ref={card}
        className="tour"
        role="dialog"
        aria-label={t("Tour")}
        aria-live="polite"
        style={{ left, top }}
        data-testid="tour"
      >
        <h2>{t(step.title)}</h2>
        <p>{t(step.text)}</p>
        <div className="tour-end">
          <span>{t("Step {n} of {all}", { n: at + 1, all: STEPS.length })}</span>
          <Button variant="subtle" onClick={endTour}>
            {t("End the tour")}
          </Button>
          {at === 0 ? null : <Button onClick={() => showStep(at - 1)}>{t("Previous step")}</Button>}
          <Button ref={next} variant="filled" onClick={() => (last ? endTour() : showStep(at + 1))}>
            {last ? t("Done") : t("Next step")}
          </Button>
        </div>
      </section>
    </>
  );
}
