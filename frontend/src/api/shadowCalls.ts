/** The API's operations on the shadow of a deployment: another version beside it, and their outputs compared. */

import { answer, api } from "./client";
import type { Shadow, ShadowStart } from "./types";

const deploymentAt = (deployment: number) => ({ params: { path: { deployment } } });

/** The shadow of a deployment; null if it has none. */
export async function getShadow(deployment: number): Promise<Shadow | null> {
  const { data } = await api.GET("/api/deployments/{deployment}/shadow", deploymentAt(deployment));
  return data ?? null;
}

export const createShadow = (
  deployment: number,
  version: number,
  start: ShadowStart,
): Promise<Shadow> =>
  answer(
    api.POST("/api/deployments/{deployment}/shadow", {
      ...deploymentAt(deployment),
      body: { version, start },
    }),
  );

/** Stops the shadow and deletes it with its topics. `name` confirms the deletion. */
export const endShadow = (deployment: number, name: string) =>
  answer(
    api.POST("/api/deployments/{deployment}/shadow/end", {
      ...deploymentAt(deployment),
      body: { name },
    }),
  );

export const compareOutputs = (deployment: number) =>
  answer(api.POST("/api/deployments/{deployment}/shadow/comparison", deploymentAt(deployment)));

export const cancelComparison = (deployment: number) =>
  answer(api.DELETE("/api/deployments/{deployment}/shadow/comparison", deploymentAt(deployment)));
