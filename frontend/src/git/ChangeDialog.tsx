import { Button } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import { asApiError } from "../api/client";
import type { OutsideChange, OutsideChangeDetail, TopologyDocument } from "../api/types";
import { notify } from "../frame/notify";
import { Waiting } from "../frame/Waiting";
import { Note } from "../ui";
import { moment } from "../ui/format";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { Modal } from "../ui/Modal";
import { asText, changesBetween } from "../versions/changes";
import { differences, merged, type Side } from "../versions/merge";
import { Sides } from "../versions/Sides";
import { getChange, takeChange } from "./calls";
import own from "./git.module.css";

const SideBySide = later(async () => (await import("../code/SideBySide")).SideBySide);

/** A change of somebody else: both documents side by side, or a decision between them. */
export function ChangeDialog(props: {
  ws: string;
  seen: OutsideChange;
  editor: boolean;
  onClose: () => void;
}) {
  const { onClose, seen, ws } = props;
  const query = useQuery({
    queryKey: ["repository-change", ws, seen.folder, seen.commit],
    queryFn: () => getChange(ws, seen.folder),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("{name} in the repository", { name: seen.topology_name ?? seen.folder })}
      size="min(1100px, 92vw)"
    >
      <Waiting query={query} />
      {query.data === undefined ? null : <Change {...props} change={query.data} />}
    </Modal>
  );
}

function Change(props: {
  ws: string;
  change: OutsideChangeDetail;
  editor: boolean;
  onClose: () => void;
}) {
  const { change, editor, onClose, ws } = props;
  const [choices, setChoices] = useState<ReadonlyMap<string, Side>>(new Map());
  const { base, mine, theirs } = change;
  const found = useMemo(
    () =>
      change.conflict && mine !== null && theirs !== null
        ? differences(base?.document ?? null, mine.document, theirs)
        : [],
    [change.conflict, base, mine, theirs],
  );
  const open = found.filter((each) => each.conflict && !choices.has(each.id)).length;
  const take = useMutation({
    mutationFn: (document: TopologyDocument | null) => takeChange(ws, change, document),
    onSuccess: (taken) => {
      notify(
        change.kind === "removed"
          ? t("The latest version becomes a commit again.")
          : t("{name} is version {n}.", {
              name: change.topology_name ?? change.folder,
              n: taken.version,
            }),
      );
      onClose();
    },
  });
  const decided = () => {
    if (mine === null || theirs === null) return null;
    return merged(base?.document ?? null, mine.document, theirs, choices);
  };
  return (
    <div className={own.dialog} data-testid="outside-change">
      <p className={own.lead}>{leadOf(change)}</p>
      {change.problem === null ? null : <Note tone="failed">{change.problem}</Note>}
      {change.conflict ? (
        <Sides found={found} choices={choices} onChoices={setChoices} />
      ) : theirs !== null && change.document_changed ? (
        <div className={own.documents}>
          {mine === null ? (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
            <pre className={own.document} tabIndex={0}>
              {asText(theirs)}
            </pre>
          ) : (
            <Suspense fallback={null}>
              <SideBySide
                left={asText(mine.document)}
                right={asText(theirs)}
                path="topology.json"
              />
            </Suspense>
          )}
        </div>
      ) : null}
      {change.tests.length === 0 ? null : (
        <p>{t("Tests: {names}", { names: change.tests.join(", ") })}</p>
      )}
      {take.error === null ? null : <Note tone="failed">{asApiError(take.error).text}</Note>}
      <div className="ui-end">
        <Button onClick={onClose}>{t("Close")}</Button>
        {!editor || change.kind === "unreadable" ? null : change.conflict ? (
          <>
            <Button
              onClick={() => take.mutate(mine?.document ?? null)}
              loading={take.isPending}
              data-testid="keep-mine"
            >
              {t("Keep this workspace’s")}
            </Button>
            <Button
              onClick={() => take.mutate(theirs)}
              loading={take.isPending}
              data-testid="take-theirs"
            >
              {t("Take the repository’s")}
            </Button>
            <Button
              variant="filled"
              onClick={() => take.mutate(decided())}
              loading={take.isPending}
              disabled={open > 0}
              data-testid="take-merged"
            >
              {open > 0 ? t("{n} to decide", { n: open }) : t("Save the merge")}
            </Button>
          </>
        ) : (
          <Button
            variant="filled"
            onClick={() => take.mutate(null)}
            loading={take.isPending}
            data-testid="take-change"
          >
            {actionOf(change)}
          </Button>
        )}
      </div>
    </div>
  );
}

function leadOf(change: OutsideChangeDetail): string {
  const { mine, theirs } = change;
  if (change.kind === "new") return t("This topology is only in the repository.");
  if (change.kind === "deleted") {
    const when = change.deleted_at === null ? "" : moment(change.deleted_at * 1000);
    return t(
      {
        id: "git.topology_was_deleted_here",
        message:
          "{who} deleted this topology here on {when}, and the repository still has it. Restore it as version 1 with the repository’s document and tests, or remove the folder there.",
      },
      { who: change.deleted_by ?? t("Somebody"), when },
    );
  }
  if (change.kind === "removed") {
    return t({
      id: "git.folder_was_removed_from_repository",
      message: "The folder was removed from the repository. The topology here is kept.",
    });
  }
  if (change.kind === "unreadable") return t("Correct the document in the repository, then pull.");
  if (change.conflict) {
    return t({
      id: "git.both_sides_have_changed_since",
      message:
        "Both sides have changed since. Choose a side for each node that differs: mine is the latest version here.",
    });
  }
  if (change.program_changed) {
    return t(
      {
        id: "git.only_generated_program_was_changed",
        message:
          "Only the generated program was changed. Convert it with {command}, and commit the document.",
      },
      { command: "./millrace document" },
    );
  }
  if (mine === null || theirs === null) return t("The document is the same.");
  return changesBetween(mine.document, theirs) || t("No nodes differ.");
}

function actionOf(change: OutsideChangeDetail): string {
  if (change.kind === "new") return t("Add this topology");
  if (change.kind === "deleted") return t("Restore this topology");
  if (change.kind === "removed") return t("Commit the latest version again");
  if (change.document_changed) {
    return t("Save as version {n}", { n: (change.latest_version ?? 0) + 1 });
  }
  return change.tests.length > 0 ? t("Take the tests in") : t("Leave the document as it is");
}
