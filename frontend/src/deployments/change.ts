import { create } from "zustand";
import { getPlan, redeploy } from "../api/calls";
import { ApiError } from "../api/client";
import type { Deployment, DeploymentSettings, StatePlan, StoreChange } from "../api/types";

export type Decision = "reset" | "drop" | { convert: string };
export type Decisions = Readonly<Record<string, Decision>>;

/**
 * A plan that waits for a person; `answer` takes the decisions, or null to leave what runs as it is.
 * `refused`: decisions that were given before, and why the server refuses them.
 */
export interface Asked {
  readonly plan: StatePlan;
  readonly refused: { readonly decisions: Decisions; readonly error: ApiError } | null;
  readonly answer: (decisions: Decisions | null) => void;
}

export const useChange = create<{ readonly asked: Asked | null }>(() => ({ asked: null }));

/** Stores whose rows cannot be carried over: each needs a decision. */
export function undecided(plan: StatePlan): StoreChange[] {
  return plan.stores.filter((store) => ["lost", "incompatible"].includes(store.verdict));
}

/** What to do with such a store: reset it, or drop it if the new version does not have it. */
export function decisionOf(store: StoreChange): "reset" | "drop" {
  return store.verdict === "lost" ? "drop" : "reset";
}

/** Whether nothing about state or sources changes: then there is nothing to read. */
export function nothingChanges(plan: StatePlan): boolean {
  return (
    plan.stores.every((store) => store.verdict === "kept" || store.verdict === "new") &&
    plan.sources.every((source) => source.verdict === "continues")
  );
}

function ask(plan: StatePlan, refused: Asked["refused"]): Promise<Decisions | null> {
  return new Promise((resolve) => {
    const answer = (decisions: Decisions | null) => {
      useChange.setState({ asked: null });
      resolve(decisions);
    };
    useChange.setState({ asked: { plan, refused, answer } });
  });
}

/**
 * Puts a version in place of what is deployed, after its plan was read where it changes state or sources.
 * Null if the person left what runs as it is. A plan that cannot be made is left to the server, which refuses losses.
 */
export async function redeployWithPlan(
  deployment: number,
  version: number,
  settings: DeploymentSettings | null,
): Promise<Deployment | null> {
  let plan: StatePlan | null = null;
  try {
    plan = await getPlan(deployment, version);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  if (plan === null || nothingChanges(plan)) return redeploy(deployment, version, settings);
  let refused: Asked["refused"] = null;
  for (;;) {
    const decisions = await ask(plan, refused);
    if (decisions === null) return null;
    try {
      return await redeploy(deployment, version, settings, decisions);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "conversion_invalid") throw error;
      refused = { decisions, error };
    }
  }
}
