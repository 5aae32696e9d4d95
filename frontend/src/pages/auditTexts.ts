/** Entries of the audit log in words. */

import type { AuditEntry } from "../api/types";
import { type Phrase, phrase, t } from "../ui/i18n";

/** What was done, by the code of the action; `tests/checks/test_audit_texts.py` finds missing ones. */
const ACTIONS: Readonly<Record<string, Phrase>> = {
  "account.close": phrase("Account closed"),
  "account.create": phrase("Account created"),
  "account.demote": phrase("Admin of the installation demoted"),
  "account.link": phrase("Sign-in link created"),
  "account.open": phrase("Account opened"),
  "account.password": phrase("Password set"),
  "account.promote": phrase("Made admin of the installation"),
  "account.rename": phrase("Displayed name changed"),
  "alert_rule.change": phrase("Alert rule changed"),
  "alert_rule.create": phrase("Alert rule created"),
  "alert_rule.delete": phrase("Alert rule deleted"),
  "alert_rule.test": phrase("Alert rule tested"),
  "comment.add": phrase("Comment written"),
  "comment.delete": phrase("Comment deleted"),
  "comment.edit": phrase("Comment edited"),
  "comment.reopen": phrase("Comment reopened"),
  "comment.resolve": phrase("Comment resolved"),
  "deployment.cancel": phrase("Change of the deployment canceled"),
  "deployment.compare": phrase("Outputs compared"),
  "deployment.create": phrase("Deployment created"),
  "deployment.dead_letter_record": phrase("Failed record sent to the dead letters"),
  "deployment.delete": phrase("Deployment deleted"),
  "deployment.delete_old_state": phrase("Old state deleted"),
  "deployment.end_shadow": phrase("Shadow ended"),
  "deployment.fall_back": phrase("Fell back to the version before"),
  "deployment.keep": phrase("Version before kept"),
  "deployment.pause": phrase("Deployment paused"),
  "deployment.redeploy": phrase("Another version deployed"),
  "deployment.remove_record_decision": phrase("Decision about a record removed"),
  "deployment.restart": phrase("Deployment restarted"),
  "deployment.resume": phrase("Deployment resumed"),
  "deployment.schedule": phrase("Schedule set"),
  "deployment.shadow": phrase("Shadow started"),
  "deployment.skip_record": phrase("Failed record skipped once"),
  "deployment.start": phrase("Deployment started"),
  "deployment.stop": phrase("Deployment stopped"),
  "deployment.unschedule": phrase("Schedule removed"),
  "draft.begin": phrase("Draft begun"),
  "draft.discard": phrase("Draft discarded"),
  "generator.change": phrase("Generator changed"),
  "generator.delete": phrase("Generator deleted"),
  "generator.start": phrase("Generator started"),
  "generator.stop": phrase("Generator stopped"),
  "member.add": phrase("Member added"),
  "member.link": phrase("Sign-in link created"),
  "member.remove": phrase("Member removed"),
  "member.role": phrase("Role changed"),
  "record.produce": phrase("Record produced"),
  "repository.accept_history": phrase("New history of the repository accepted"),
  "repository.bind": phrase("Repository chosen"),
  "repository.take": phrase("Change taken from the repository"),
  "repository.unbind": phrase("Repository removed"),
  "session.begin": phrase("Signed in"),
  "session.refuse": phrase("Sign-in refused"),
  "test.delete": phrase("Test deleted"),
  "test.keep": phrase("Test kept"),
  "token.create": phrase("Token created"),
  "token.revoke": phrase("Token revoked"),
  "topic.create": phrase("Topic created"),
  "topic.delete": phrase("Topic deleted"),
  "topology.create": phrase("Topology created"),
  "topology.delete": phrase("Topology deleted"),
  "topology.update": phrase("Topology renamed or described"),
  "version.approve": phrase("Version approved"),
  "version.create": phrase("Version saved"),
  "version.name": phrase("Version named"),
  "version.withdraw_approval": phrase("Approval withdrawn"),
  "workspace.approval": phrase("Required approval changed"),
  "workspace.create": phrase("Workspace created"),
  "workspace.delete": phrase("Workspace deleted"),
  "workspace.tests": phrase("Required tests changed"),
  "workspace.topics": phrase("Topic prefixes changed"),
};

/** What was done; the code of an action that this page does not know. */
export function actionText({ action }: Pick<AuditEntry, "action">): string {
  const known = ACTIONS[action];
  return known === undefined ? action : t(known);
}

type Fields = Pick<AuditEntry, "detail" | "subject" | "subject_id"> &
  Partial<Pick<AuditEntry, "deleted_workspace">>;

/** The name of what it was done to, or its kind and number. */
export function subjectText({ detail, subject, subject_id }: Fields): string {
  const { name, topic, topology, username } = detail;
  const known = [topology, name, topic, username].find((each) => typeof each === "string");
  return typeof known === "string" ? known : [subject, subject_id].filter(Boolean).join(" ");
}

/** Facts that say nothing, as JSON. */
const EMPTY: ReadonlySet<string> = new Set(["null", '""', "{}", "[]"]);

/** The other facts, as they were recorded. */
export function factsText(entry: Fields): string {
  const subject = subjectText(entry);
  const { deleted_workspace: workspace } = entry;
  return Object.entries({ ...entry.detail, ...(workspace ? { workspace } : {}) })
    .filter(([name]) => name !== "hash")
    .filter(([, value]) => value !== subject && !EMPTY.has(JSON.stringify(value)))
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
}
