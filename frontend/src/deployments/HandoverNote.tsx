import type { StatePlan } from "../api/types";
import { type Phrase, phrase, t } from "../ui/i18n";

type Handover = NonNullable<StatePlan["handover"]>;

/** How the new driver replaces the running one. */
export function HandoverNote({ plan }: { plan: StatePlan }) {
  const { handover } = plan;
  if (handover === null) return null;
  if (handover.warm) {
    return (
      <p data-testid="handover" data-warm="true">
        {t(
          {
            id: "deployments.new_driver_is_prepared",
            message:
              "The new driver is prepared before version {n} stops, so that the output pauses only briefly.",
          },
          {
            n: plan.before,
          },
        )}
      </p>
    );
  }
  return (
    <p data-testid="handover" data-warm="false">
      {t("Version {n} is stopped before the new driver starts.", { n: plan.before })}{" "}
      {handover.reason === null ? null : t(REASONS[handover.reason])}
    </p>
  );
}

const REASONS: Readonly<Record<NonNullable<Handover["reason"]>, Phrase>> = {
  memory: phrase("There is not enough memory for two drivers at once."),
  cluster: phrase("The running driver uses the cores of the cluster."),
  paused: phrase("It is paused."),
  plain: phrase({
    id: "deployments.plain_pyspark_program_cannot",
    message: "A plain PySpark program cannot be prepared while another driver runs.",
  }),
};
