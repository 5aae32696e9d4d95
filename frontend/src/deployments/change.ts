import { create } from "zustand";
import { ApiError } from "../api/client";
import { getPlan, getSettingsPlan, getStartPlan, redeploy } from "../api/deploymentCalls";
import type {
  Deployment,
  DeploymentSettings,
  StartRequest,
  StatePlan,
  StoreChange,
} from "../api/types";
import type { Environment } from "../graph/parameters";

export type Decision = "reset" | "drop" | { convert: string };
export type Decisions = Readonly<Record<string, Decision>>;

/**
 * A plan that waits for a person's answer: the decisions and the name that confirms a reset of all stores, or null to
 * cancel. `refused` has earlier decisions and why the server refused them.
 */
export interface Asked {
  readonly plan: StatePlan;
  /** The environment that a version is promoted to, and whether a deployment runs there; null: the page's deployment. */
  readonly promotion: { readonly environment: Environment; readonly runs: boolean } | null;
  readonly refused: { readonly decisions: Decisions; readonly error: ApiError } | null;
  readonly answer: (decisions: Decisions | null, name?: string) => void;
}

export const useChange = create<{ readonly asked: Asked | null }>(() => ({ asked: null }));

/** Stores whose rows cannot be kept. Each needs a decision, unless all stores are reset. */
export function undecided(plan: StatePlan): StoreChange[] {
  if (plan.reset) return [];
  return plan.stores.filter((store) => ["lost", "incompatible"].includes(store.verdict));
}

/** The decision for such a store: reset it, or drop it if the new version does not have it. */
export function decisionOf(store: StoreChange): "reset" | "drop" {
  return store.verdict === "lost" ? "drop" : "reset";
}

/** Whether state, sources and values of parameters stay the same, so that there is nothing to review. */
export function nothingChanges(plan: StatePlan): boolean {
  return (
    plan.parameters.length === 0 &&
    plan.stores.every((store) => store.verdict === "kept" || store.verdict === "new") &&
    plan.sources.every((source) => source.verdict === "continues")
  );
}

interface Accepted {
  readonly decisions: Decisions;
  readonly name: string | undefined;
}

function ask(asked: Omit<Asked, "answer">): Promise<Accepted | null> {
  return new Promise((resolve) => {
    const answer = (decisions: Decisions | null, name?: string) => {
      useChange.setState({ asked: null });
      resolve(decisions === null ? null : { decisions, name });
    };
    useChange.setState({ asked: { ...asked, answer } });
  });
}

/** Shows a plan until it is accepted and sent; null if the person canceled. */
export async function sendAccepted(
  { plan, promotion }: Pick<Asked, "plan" | "promotion">,
  send: (accepted: Accepted) => Promise<Deployment>,
): Promise<Deployment | null> {
  let refused: Asked["refused"] = null;
  for (;;) {
    const accepted = await ask({ plan, promotion, refused });
    if (accepted === null) return null;
    try {
      return await send(accepted);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "conversion_invalid") throw error;
      refused = { decisions: accepted.decisions, error };
    }
  }
}

interface Change {
  /** Where the deployment starts; null: where it stopped. */
  readonly start?: StartRequest | null;
  /** Show the plan even if nothing changes. */
  readonly always?: boolean;
}

/**
 * Replaces the deployed version, after showing the plan if it changes state, sources or offsets. Null if the person
 * canceled. If the plan cannot be computed, the server decides, which refuses to lose state.
 */
export async function redeployWithPlan(
  deployment: number,
  version: number,
  settings: DeploymentSettings | null,
  { start = null, always = false }: Change = {},
): Promise<Deployment | null> {
  let plan: StatePlan | null = null;
  if (start !== null) plan = await getStartPlan(deployment, version, start);
  else {
    try {
      plan =
        settings === null
          ? await getPlan(deployment, version)
          : await getSettingsPlan(deployment, version, settings);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  if (plan === null || (start === null && !always && nothingChanges(plan))) {
    return redeploy(deployment, version, settings);
  }
  return await sendAccepted({ plan, promotion: null }, ({ decisions, name }) => {
    const begins = start === null ? {} : { ...start, ...(name === undefined ? {} : { name }) };
    return redeploy(deployment, version, settings, decisions, begins);
  });
}
