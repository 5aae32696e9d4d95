import { useEffect, useRef } from "react";
import { trendOf } from "../designer/backlog";
import { isRejected, missText, reasonText } from "../designer/reasons";
import { type HistoryPoint, type NodeFigures, useRuntime } from "../designer/runtime";
import { count, exact, rate, span } from "../ui/format";
import { t } from "../ui/i18n";
import { explain, showNodeFigures } from "./liveFigures";

function dropped(figures: NodeFigures): number {
  return Object.values(figures.dropped).reduce((sum, each) => sum + each, 0);
}

/** Records that were not forwarded; dead letters first, because they need attention. */
function losses(figures: NodeFigures): { text: string; title: string } | null {
  const drops = dropped(figures);
  const dead = figures.deadLetters;
  if (drops + dead === 0) return null;
  const reasons = Object.entries(figures.dropped).filter(([, n]) => n > 0);
  const lines = reasons.map(([reason, n]) => `${reasonText(reason)}: ${exact(n)}`);
  if (dead > 0) {
    return {
      text: `${count(dead)} ${t("dead")}`,
      title: [`${t("dead letters")}: ${exact(dead)}`, ...lines].join("\n"),
    };
  }
  const only = reasons.length === 1 ? reasons[0]?.[0] : undefined;
  return {
    text: `${count(drops)} ${only === "late" ? t("late") : t("dropped")}`,
    title: lines.join("\n"),
  };
}

/**
 * Records for which an inner join found nothing on the other side, which is expected, and records that a rule rejects
 * and forwards.
 */
function misses(figures: NodeFigures): { text: string; title: string } | null {
  const found = Object.entries(figures.misses).filter(([, n]) => n > 0);
  if (found.length === 0) return null;
  const all = found.reduce((sum, [, n]) => sum + n, 0);
  return {
    text: found.every(([reason]) => isRejected(reason))
      ? t("{n} rejected", { n: count(all) })
      : t("{n} unmatched", { n: count(all) }),
    title: found.map(([reason, n]) => `${missText(reason)}: ${exact(n)}`).join("\n"),
  };
}

/** An arrow for the trend of the lag, and the trend in words. */
function heading(points: readonly HistoryPoint[]): { sign: string; title: string; tone: string } {
  const trend = trendOf(points);
  if (trend === null) return { sign: "", title: "", tone: "" };
  return trend.kind === "catching up"
    ? { sign: " ↓", title: t("caught up in about {time}", { time: span(trend.inMs) }), tone: "" }
    : {
        sign: " ↑",
        title: t("grows by {rate}", { rate: rate(trend.perSecond) }),
        tone: "degraded",
      };
}

function right(
  figures: NodeFigures,
  points: readonly HistoryPoint[],
): { text: string; title: string; tone: string } {
  if (figures.lost > 0) {
    return {
      text: `${count(figures.lost)} ${t("lost")}`,
      title: t(
        {
          id: "canvas.records_that_broker_deleted",
          message:
            "{n} {n, plural, one {record} other {records}} that the broker deleted before {n, plural, one {it was} other {they were}} read",
        },
        {
          n: exact(figures.lost),
        },
      ),
      tone: "degraded",
    };
  }
  const lost = losses(figures);
  if (lost !== null) return { ...lost, tone: "degraded" };
  const missed = misses(figures);
  if (missed !== null && figures.lag === null) return { ...missed, tone: "" };
  if (figures.lag !== null) {
    const { sign, title, tone } = heading(points);
    const unread = t("{n} {n, plural, one {record} other {records}} not yet read", {
      n: exact(figures.lag),
    });
    return {
      text: `${t("lag")} ${count(figures.lag)}${sign}`,
      title: title === "" ? unread : `${unread}\n${title}`,
      tone,
    };
  }
  if (figures.outRate > 0 && Math.abs(figures.outRate - figures.inRate) > figures.inRate * 0.08) {
    return { text: `→ ${rate(figures.outRate)}`, title: t("Records out per second"), tone: "" };
  }
  return { text: "", title: "", tone: "" };
}

/** The strip below a node with its live figures. */
export function RuntimeFooter({ node, source }: { node: string; source: boolean }) {
  const strip = useRef<HTMLDivElement>(null);
  const left = useRef<HTMLSpanElement>(null);
  const end = useRef<HTMLSpanElement>(null);
  useEffect(
    () =>
      showNodeFigures(node, (figures) => {
        if (strip.current === null || left.current === null || end.current === null) return;
        strip.current.toggleAttribute("data-failed", figures?.failure != null);
        if (figures === null) {
          left.current.textContent = "–";
          end.current.textContent = "";
          explain(left.current, () => "");
          explain(end.current, () => "");
          return;
        }
        const shown = source ? figures.outRate : figures.inRate;
        left.current.textContent = rate(shown);
        explain(left.current, () => {
          const total = source ? figures.outTotal : figures.inTotal;
          return `${exact(Math.round(shown * 10) / 10)} /s · ${t("in all")} ${exact(total)}`;
        });
        const other = right(figures, useRuntime.getState().history[node] ?? []);
        end.current.textContent = other.text;
        explain(end.current, () => other.title);
        end.current.dataset.tone = other.tone;
      }),
    [node, source],
  );
  return (
    <div className="node-footer m-figures" ref={strip}>
      <span ref={left} />
      <span ref={end} />
    </div>
  );
}
