import { durationWords } from "../../designer/sentences";
import type { Json } from "../../graph/document";
import { durationText, milliseconds } from "../../graph/durations";
import { type Phrase, phrase, t } from "../../ui/i18n";
import { CALENDAR_UNITS } from "./calendar";
import { asText } from "./widget";

const CAPTIONS: Readonly<Record<string, Phrase>> = {
  tumbling: phrase("Every record is in exactly one window."),
  hopping: phrase({
    id: "inspector.windows_overlap_record_is_in_each",
    message: "Windows overlap; a record is in each that covers its timestamp.",
  }),
  sliding: phrase("Records whose timestamps are close enough share a window."),
  session: phrase({
    id: "inspector.records_belong_to_one",
    message: "Records belong to one session until none arrives for longer than the gap.",
  }),
  unlimited: phrase("One window that begins at the start and never ends."),
  custom: phrase({
    id: "inspector.windows_of_the_function",
    message: "Each record is in the windows that the function returns for its timestamp.",
  }),
};

const WIDTH = 312;
const LINE = 62;

/** Positions of records on the time line, as fractions of its width. */
const EVENTS = [0.34, 0.45, 0.6, 0.79];

function ms(value: Json | undefined): number {
  return Math.max(0, milliseconds(value) ?? 0);
}

function label(milliseconds: number): string {
  return milliseconds === 0 ? "0" : durationWords(durationText(milliseconds));
}

interface Bar {
  readonly x: number;
  readonly width: number;
  readonly row: number;
  readonly main: boolean;
}

/** The windows in the picture. Widths, grace and end are fractions of the picture's width; `size` is in ms. */
function bars(window: Record<string, Json>): {
  bars: Bar[];
  grace: number;
  end: number;
  size: number;
} {
  const type = asText(window.type);
  const size = CALENDAR_UNITS[asText(window.unit)]?.length ?? ms(window.size);
  const graceOf = (length: number, drawn: number) =>
    length === 0 ? 0 : Math.min(0.3, (ms(window.grace) / length) * drawn);
  if (type === "hopping") {
    const share = size === 0 ? 0.5 : Math.max(0.12, Math.min(1, ms(window.advance) / size));
    const width = 0.44;
    const step = width * share;
    const starts = Array.from({ length: Math.min(5, Math.ceil(0.9 / step) + 1) }, (_, n) => n);
    const shown = starts
      .map((n) => ({ x: 0.08 + n * step, width, row: n % 3, main: n === 1 }))
      .filter((bar) => bar.x < 0.9);
    const main = shown[1] ?? shown[0];
    const end = (main?.x ?? 0) + width;
    return { bars: shown, grace: graceOf(size, width), end, size };
  }
  if (type === "sliding") {
    const difference = ms(window.difference);
    const shown = EVENTS.slice(1, 4).map((at, row) => ({
      x: at - 0.27,
      width: 0.27,
      row,
      main: row === 1,
    }));
    return { bars: shown, grace: graceOf(difference, 0.27), end: EVENTS[2] ?? 0, size: difference };
  }
  if (type === "session") {
    const gap = ms(window.gap);
    return {
      bars: [
        { x: 0.04, width: 0.08, row: 0, main: false },
        { x: 0.34, width: 0.26, row: 0, main: true },
        { x: 0.79, width: 0.02, row: 0, main: false },
      ],
      grace: graceOf(gap, 0.16),
      end: 0.6,
      size: gap,
    };
  }
  if (type === "unlimited") {
    return { bars: [{ x: 0.1, width: 0.9, row: 0, main: true }], grace: 0, end: 1, size: 0 };
  }
  const width = 0.32;
  return {
    bars: [
      { x: -0.02, width, row: 0, main: false },
      { x: 0.32, width, row: 0, main: true },
      { x: 0.66, width: 0.36, row: 0, main: false },
    ],
    grace: graceOf(size, width),
    end: 0.64,
    size,
  };
}

/** The widest label of the grace period, in units of the picture. */
const LATE_TEXT = 150;

/** A time line with windows, records and the grace period. */
export function WindowPicture({ window }: { window: Record<string, Json> }) {
  const type = asText(window.type);
  const caption = CAPTIONS[type];
  const picture = bars(window);
  const rows = 1 + Math.max(...picture.bars.map((bar) => bar.row));
  const height = rows === 1 ? 22 : 13;
  const gap = 3;
  const top = LINE - 8 - rows * (height + gap);
  const main = picture.bars.find((bar) => bar.main);
  const unit = CALENDAR_UNITS[asText(window.unit)];
  const grace = ms(window.grace);
  const late = picture.end * WIDTH + Math.max(3, picture.grace * WIDTH) + 4;
  // Half of the label is to the right of its anchor.
  const room = WIDTH - late > LATE_TEXT / 2;
  const events = type === "session" ? [...EVENTS, 0.07, 0.1] : EVENTS;
  return (
    <figure className="window-picture">
      <svg
        viewBox={`0 0 ${WIDTH} ${LINE + (type === "session" ? 24 : 18)}`}
        role="img"
        aria-label={t("Windows on a time line")}
      >
        {picture.bars.map((bar) => (
          <rect
            key={`${bar.x} ${bar.row}`}
            className="window-bar"
            data-main={bar.main || undefined}
            x={Math.max(0, bar.x * WIDTH)}
            y={top + bar.row * (height + gap)}
            width={Math.min(WIDTH, (bar.x + bar.width) * WIDTH) - Math.max(0, bar.x * WIDTH) - 2}
            height={height}
            rx={2}
          />
        ))}
        {picture.grace > 0 && main !== undefined ? (
          <rect
            className="window-grace"
            x={picture.end * WIDTH - 2}
            y={top + main.row * (height + gap)}
            width={Math.max(3, picture.grace * WIDTH)}
            height={height}
            rx={1.5}
          />
        ) : null}
        <path className="window-line" d={`M0 ${LINE}H${WIDTH}`} />
        {events.map((at) => (
          <circle key={at} className="window-event" cx={at * WIDTH} cy={LINE} r={3.2} />
        ))}
        {type === "session" ? (
          <g className="window-gap">
            <path d={`M${0.6 * WIDTH} ${LINE + 7}V${LINE + 11}H${0.79 * WIDTH}V${LINE + 7}`} />
            <text x={0.695 * WIDTH} y={LINE + 22} textAnchor="middle">
              {`> ${label(picture.size)}`}
            </text>
          </g>
        ) : null}
        {type === "sliding" ||
        type === "session" ||
        type === "unlimited" ||
        main === undefined ? null : (
          <g className="window-ticks">
            {unit !== undefined ? (
              <text x={(main.x + main.width / 2) * WIDTH} y={LINE + 14} textAnchor="middle">
                {t(unit.title)}
              </text>
            ) : (
              <>
                <text x={main.x * WIDTH} y={LINE + 14} textAnchor="middle">
                  {label(ms(window.offset))}
                </text>
                <text x={(main.x + main.width) * WIDTH} y={LINE + 14} textAnchor="middle">
                  {label(ms(window.offset) + picture.size)}
                </text>
              </>
            )}
          </g>
        )}
        {picture.grace > 0 ? (
          <text
            className="window-late"
            x={room ? late : WIDTH - 2}
            y={Math.max(9, top - 4)}
            textAnchor={room ? "middle" : "end"}
          >
            {t("late by up to {grace}", { grace: durationWords(durationText(grace)) })}
          </text>
        ) : null}
      </svg>
      <figcaption>{caption === undefined ? "" : t(caption)}</figcaption>
    </figure>
  );
}
