import { Button } from "@mantine/core";
import { useState } from "react";
import type { Deployment } from "../api/types";
import { useDesigner } from "../designer/store";
import { type Environment, parametersOf } from "../graph/parameters";
import { t } from "../ui/i18n";
import { environmentOf, targetsAfter } from "./environments";
import classes from "./environments.module.css";
import { beginPromotion } from "./promoting";

/** Buttons that promote the deployed version to the environments after its own. */
export function Promotions(props: { deployment: Deployment; onChosen: () => void }) {
  const { deployment } = props;
  const [busy, setBusy] = useState<Environment | null>(null);
  const parametrized = useDesigner((state) => parametersOf(state.document).length > 0);
  const environment = environmentOf(deployment);
  const targets = environment === null && !parametrized ? [] : targetsAfter(environment);
  if (targets.length === 0) return null;
  return (
    <div className={classes.promotions}>
      {targets.map((target) => (
        <Button
          key={target}
          loading={busy === target}
          disabled={busy !== null}
          onClick={async () => {
            setBusy(target);
            await beginPromotion(deployment, target, props.onChosen);
            setBusy(null);
          }}
          data-testid={`promote-${target}`}
        >
          {t("Promote v{n} to {environment}…", { n: deployment.version, environment: target })}
        </Button>
      ))}
    </div>
  );
}
