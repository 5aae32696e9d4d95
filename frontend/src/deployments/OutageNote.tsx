import IconHourglass from "@tabler/icons-react/dist/esm/icons/IconHourglass.mjs";
import { describeCause } from "../api/prose";
import type { Outage } from "../api/types";
import { useNow } from "../live/useNow";
import { Note } from "../ui";
import { hour, span } from "../ui/format";
import { t } from "../ui/i18n";

/** The outage that a deployment waits for, since when, and the time of the next retry. */
export function OutageNote({ outage }: { outage: Outage }) {
  const now = useNow(1_000);
  const next = Date.parse(outage.retry_at) - now;
  return (
    <Note tone="degraded" icon={<IconHourglass size={16} stroke={1.5} style={{ flex: "none" }} />}>
      <span data-testid="outage">
        {t("Waiting since {time} ({ago}).", {
          time: hour(outage.since),
          ago: span(Math.max(0, now - Date.parse(outage.since))),
        })}{" "}
        {describeCause(outage)}{" "}
        {next > 0
          ? t("Next attempt in {time}.", { time: span(next) })
          : t("Retrying automatically.")}
      </span>
    </Note>
  );
}
