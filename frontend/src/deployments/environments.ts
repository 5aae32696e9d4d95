/** The environments of a topology's deployments, in the order in which versions are promoted. */

import type { Deployment, DeploymentBrief } from "../api/types";
import { ENVIRONMENTS, type Environment } from "../graph/parameters";
import { t } from "../ui/i18n";

/** The name of an environment; deployments without one have the defaults. */
export const nameOf = (environment: Environment | null | undefined): string =>
  environment ?? t("defaults");

const orderOf = (environment: Environment | null | undefined): number =>
  environment == null ? -1 : ENVIRONMENTS.indexOf(environment);

/** Deployments from the first environment to the last one. */
export function inOrder<Row>(
  rows: readonly Row[],
  environmentOf: (row: Row) => Environment | null | undefined,
): Row[] {
  return [...rows].sort(
    (one, other) => orderOf(environmentOf(one)) - orderOf(environmentOf(other)),
  );
}

export const environmentOf = (row: Deployment): Environment | null =>
  row.settings.environment ?? null;

/** Whether the environments are shown: there are several deployments, or one has an environment. */
export const named = (rows: readonly Pick<DeploymentBrief, "environment">[]): boolean =>
  rows.length > 1 || rows.some((row) => row.environment !== null);

/** The environments after one, or all of them for a deployment without one. */
export const targetsAfter = (environment: Environment | null): readonly Environment[] =>
  ENVIRONMENTS.slice(orderOf(environment) + 1);
