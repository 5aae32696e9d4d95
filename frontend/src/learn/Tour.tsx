import "./learn.css";
import { Button } from "@mantine/core";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
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

/** The place of a step's target on the screen; null while there is none. */
function useTarget(selector: string): Box | null {
  const [box, setBox] = useState<Box | null>(null);
  useLayoutEffect(() => {
    const look = () => {
      const found = document.querySelector(selector)?.getBoundingClientRect();
      const shown = found === undefined || found.width === 0 ? null : found;
      setBox((before) =>
        shown === null || before === null || !same(before, shown)
          ? shown && { left: shown.left, top: shown.top, width: shown.width, height: shown.height }
          : before,
      );
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [selector]);
  return box;
}

const same = (a: Box, b: Box) =>
  a.left === b.left && a.top === b.top && a.width === b.width && a.height === b.height;

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
  const target = useTarget(step.target);
  const [size, setSize] = useState({ width: 340, height: 160 });
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
  const { left, top } = placeOf(target, size);
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
