import { Avatar, Button, TextInput, Tooltip, UnstyledButton } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { Link } from "react-router";
import { changeTopology } from "../api/topologyCalls";
import { commandContext } from "../commands/command";
import { commandById } from "../commands/registry";
import { DeployButton } from "../deployments/DeployButton";
import { DeploymentPill } from "../deployments/DeploymentPill";
import { colorOf, initialsOf, type Person, usePresence } from "../designer/presence";
import { useDesigner } from "../designer/store";
import { AlertMark } from "../frame/AlertMark";
import { Mark } from "../frame/Mark";
import { notifyError } from "../frame/notify";
import { useWorkspace } from "../frame/session";
import { type HelpItem, UserMenu } from "../frame/UserMenu";
import { WorkspaceSwitch } from "../frame/WorkspaceSwitch";
import { findNode, labelOf } from "../graph/document";
import { LONGEST_NAME } from "../learn/names";
import { useLive } from "../live/store";
import { Chip, Tip } from "../ui";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { openSave, useEditing } from "../versions/editing";
import classes from "./header.module.css";

const Environments = later(async () => (await import("../deployments/Environments")).Environments);

interface HeaderProps {
  ws: string;
  editor: boolean;
  operator: boolean;
}

/** Workspace / name, version and draft, deployment. */
export function HeaderLeft({ ws, editor, operator }: HeaderProps) {
  const workspace = useWorkspace(ws);
  const environments = useLive(
    ({ deployments }) =>
      deployments.length > 1 || deployments[0]?.settings.environment !== undefined,
  );
  return (
    <>
      <Link to={`/w/${ws}`} className={classes.home} aria-label={t("All topologies")}>
        <Mark />
      </Link>
      <Link to={`/w/${ws}`} className={classes.crumb}>
        {workspace?.name ?? ws}
      </Link>
      <WorkspaceSwitch ws={ws} />
      <span className={classes.slash} aria-hidden>
        /
      </span>
      <Name editor={editor} />
      <SavedState />
      {environments ? (
        <Suspense>
          <Environments />
        </Suspense>
      ) : null}
      <DeploymentPill operator={operator} />
    </>
  );
}

function Name({ editor }: { editor: boolean }) {
  const { name, topology } = useEditing();
  const [typing, setTyping] = useState<string | null>(null);
  const queries = useQueryClient();
  const commit = async () => {
    const next = typing?.trim() ?? "";
    setTyping(null);
    if (topology === null || next === "" || next === name) return;
    useEditing.setState({ name: next });
    try {
      await changeTopology(topology, { name: next });
      await queries.invalidateQueries({ queryKey: ["topologies"] });
    } catch (error) {
      useEditing.setState({ name });
      notifyError(error, t("Could not rename"));
    }
  };
  if (typing !== null) {
    return (
      <TextInput
        aria-label={t("Name of the topology")}
        value={typing}
        onChange={(event) => setTyping(event.currentTarget.value)}
        onBlur={() => void commit()}
        onKeyDown={(event) => {
          if (event.key === "Enter") void commit();
          if (event.key === "Escape") setTyping(null);
        }}
        maxLength={LONGEST_NAME}
        autoFocus
        w={240}
      />
    );
  }
  return (
    <h1 className={classes.title}>
      <UnstyledButton
        className={classes.name}
        disabled={!editor}
        onClick={() => setTyping(name)}
        title={editor ? t("Rename") : undefined}
      >
        {name}
      </UnstyledButton>
    </h1>
  );
}

/** Whether there are unsaved changes, always visible: "v7 · saved", "v7 · draft saved", "saving…". */
function SavedState() {
  const { baseVersion, changed, draft } = useEditing();
  const readOnly = useDesigner((state) => state.readOnly);
  const version = baseVersion === null ? null : t("v{n}", { n: baseVersion });
  const state = () => {
    if (readOnly) return t("read only");
    if (draft === "failed" || draft === "conflict") return t("draft not saved");
    if (draft === "saving" || draft === "pending") return t("saving draft…");
    if (changed) return t("draft saved");
    return version === null ? t("new") : t("saved");
  };
  return (
    <Chip
      tone={draft === "failed" || draft === "conflict" ? "degraded" : "neutral"}
      title={
        changed
          ? t({
              id: "pages.your_changes_are_kept",
              message:
                "Your changes are kept as a private draft. Save them as a version to share or deploy them.",
            })
          : t("The topology is the same as the saved version.")
      }
    >
      <span data-testid="saved-state" data-draft={draft}>
        {[version, state()].filter(Boolean).join(" · ")}
      </span>
    </Chip>
  );
}

export function HeaderRight({ ws, editor, operator }: HeaderProps) {
  const { changed, saving } = useEditing();
  const empty = useDesigner((state) => state.document.nodes.length === 0);
  const isFragment = useDesigner((state) => state.isFragment);
  return (
    <>
      <Present />
      <AlertMark ws={ws} />
      {editor ? (
        <Tip text={changed ? t("Save a version") : t("Everything is saved")} keys="Mod+S">
          <Button
            onClick={openSave}
            loading={saving}
            disabled={!changed || empty}
            data-testid="save"
          >
            {t("Save")}
          </Button>
        </Tip>
      ) : null}
      {isFragment ? <Chip>{t("Fragment")}</Chip> : <DeployButton allowed={operator} />}
      <UserMenu ws={ws} help={HELP.flatMap(helpItem)} />
    </>
  );
}

/** The commands that help, also in the menu of the account. */
const HELP = ["help", "tour", "learn", "shortcuts"];

function helpItem(id: string): HelpItem[] {
  const command = commandById(id);
  if (command === undefined) return [];
  return [{ id, title: command.title(), run: () => void command.run(commandContext()) }];
}

/** Other people who have this topology open; a click reveals the node that they edit. */
function Present() {
  const people = usePresence((state) => state.people);
  if (people.length === 0) return null;
  return (
    <Avatar.Group spacing={6}>
      {people.slice(0, 4).map((person) => (
        <Tooltip key={person.id} label={whereabouts(person)}>
          <Avatar
            component="button"
            size={26}
            radius="xl"
            className={classes.person}
            style={{ "--person": colorOf(person.id) }}
            aria-label={whereabouts(person)}
            onClick={() => {
              if (person.node !== null) useDesigner.getState().goTo(person.node);
            }}
          >
            {initialsOf(person.name)}
          </Avatar>
        </Tooltip>
      ))}
      {people.length > 4 ? (
        <Avatar size={26} radius="xl">
          +{people.length - 4}
        </Avatar>
      ) : null}
    </Avatar.Group>
  );
}

function whereabouts(person: Person): string {
  const node = person.node && findNode(useDesigner.getState().document, person.node);
  return node
    ? t("{name} edits {node}", { name: person.name, node: labelOf(node) })
    : t("{name} has this topology open", { name: person.name });
}
