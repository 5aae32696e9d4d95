import type { Observed } from "../api/types";
import { Chip, StateDot } from "../ui";
import { t } from "../ui/i18n";
import { dotOf, isMoving, toneOf, wordOf } from "./states";

/** The state of a deployment as a dot and words: "Running · v6". */
export function StatePill(props: {
  state: Observed;
  version?: number | null;
  suffix?: string;
  waiting?: boolean;
}) {
  const words = [props.waiting && isMoving(props.state) ? t("Waiting") : wordOf(props.state)];
  if (props.version !== null && props.version !== undefined) {
    words.push(t("v{n}", { n: props.version }));
  }
  if (props.suffix !== undefined) words.push(props.suffix);
  return (
    <Chip tone={toneOf(props.state)}>
      <StateDot state={dotOf(props.state)} />
      <span data-testid="deployment-state" data-state={props.state}>
        {words.join(" · ")}
      </span>
    </Chip>
  );
}
