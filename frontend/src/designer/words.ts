/** Roles, the ways a node can run, and the reasons for refused edges, in words. */

import type { Role } from "../graph/catalog";
import type { Refusal } from "../graph/connect";
import { type Phrase, phrase, t } from "../ui/i18n";

const ROLES: Readonly<Record<string, Phrase>> = {
  stream: phrase("stream"),
  table: phrase("table"),
  windowed_table: phrase("windowed table"),
  global_table: phrase("global table"),
  store: phrase("store"),
};

const REFUSALS = {
  itself: phrase("A node cannot be connected to itself"),
  not_an_input: phrase("Connect an output to an input"),
  exists: phrase("This edge already exists"),
  cycle: phrase("This edge would create a cycle; go through a topic instead"),
  not_a_store: phrase("Only a store can be connected here"),
  not_a_table: phrase("Only a store or a table can be connected here"),
  store_only_below: phrase("Connect a store to the port below a stateful node"),
} as const;

export function roleText(role: Role): string {
  const known = ROLES[role];
  return known === undefined ? role.replaceAll("_", " ") : t(known);
}

/** The way a node runs, in words; an unknown way is shown by its code. */
export function runsText(way: string): string {
  if (way === "stream_task") return t("stream task");
  return way === "python" ? t("Python stage") : way;
}

/** Why an edge does not fit, and what would fit. */
export function refusalText(reason: Refusal): string {
  if (reason.code === "taken") {
    return t("{port} already has an input; delete that edge first", { port: reason.port });
  }
  if (reason.code === "store_kind") {
    return t("Does not accept this kind of store; accepted: {needs}", {
      needs: reason.needs.map((kind) => kind.slice(6).replaceAll("_", " ")).join(", "),
    });
  }
  if (reason.code !== "role") return t(REFUSALS[reason.code]);
  const accepted = reason.needs.includes("table")
    ? reason.needs.filter((role) => role !== "windowed_table")
    : reason.needs;
  const needs = accepted.map(roleText).join(` ${t("or")} `);
  if (reason.found === "stream" && reason.needs.includes("table")) {
    return t(
      {
        id: "designer.requires_this_is_stream",
        message: "Requires a {needs}, this is a stream: add “To table” between them",
      },
      { needs },
    );
  }
  if (reason.found.includes("table") && reason.needs.includes("stream")) {
    return t(
      {
        id: "designer.requires_stream_this_is_add",
        message: "Requires a stream, this is a {found}: add “To stream” between them",
      },
      {
        found: roleText(reason.found),
      },
    );
  }
  return t("Requires a {needs}, this is a {found}", { needs, found: roleText(reason.found) });
}
