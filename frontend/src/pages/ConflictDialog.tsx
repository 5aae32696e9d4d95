import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { useDesigner } from "../designer/store";
import { notify } from "../frame/notify";
import { Note } from "../ui";
import { ago } from "../ui/format";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { type Conflict, saveVersion, takeTheirs, useEditing } from "../versions/editing";
import { differences, merged, type Side } from "../versions/merge";
import { Sides } from "../versions/Sides";
import classes from "../versions/sides.module.css";

/** Resolves a save conflict: shows both sides, node by node, and three ways out. Nothing is overwritten. */
export function ConflictDialog({ conflict }: { conflict: Conflict }) {
  const mine = useDesigner((state) => state.document);
  const { saving } = useEditing();
  const [choices, setChoices] = useState<ReadonlyMap<string, Side>>(new Map());
  const [error, setError] = useState<ApiError | null>(null);
  const { base, theirs } = conflict;
  const found = useMemo(
    () => differences(base, mine, theirs.document),
    [base, mine, theirs.document],
  );
  const open = found.filter((each) => each.conflict && !choices.has(each.id)).length;
  const close = () => useEditing.setState({ conflict: null });

  const saveAs = async (side: "mine" | "merged") => {
    setError(null);
    if (side === "merged") {
      const joined = merged(base, mine, theirs.document, choices);
      useDesigner.getState().change(t("Merge version {n}", { n: theirs.number }), () => joined);
    }
    try {
      const version = await saveVersion(conflict.message, theirs.number);
      if (version !== null) notify(t("Version {n} is saved.", { n: version.number }));
    } catch (failure) {
      setError(asApiError(failure));
    }
  };

  return (
    <Modal
      opened
      onClose={close}
      title={t("{name} saved version {n} while you were drawing", {
        name: theirs.author ?? t("Someone"),
        n: theirs.number,
      })}
      size={720}
    >
      <div className={classes.body} data-testid="conflict">
        <p className={classes.lead}>
          {theirs.message === "" ? null : `“${theirs.message}” · `}
          {ago(theirs.created_at)}
        </p>
        <p className={classes.lead}>
          {found.length === 0
            ? t({
                id: "pages.both_have_same_nodes",
                message: "Both have the same nodes; only positions, edges or settings differ.",
              })
            : t({
                id: "pages.choose_side_for_each",
                message:
                  "Choose a side for each node that differs. Nothing is lost: their version stays in the list, yours in the undo history.",
              })}
        </p>
        {found.length === 0 ? null : (
          <Sides found={found} choices={choices} onChoices={setChoices} />
        )}
        {error === null ? null : <Note tone="failed">{error.text}</Note>}
        <div className="ui-end">
          <Button onClick={() => takeTheirs(theirs)} data-testid="take-theirs">
            {t("Take theirs")}
          </Button>
          <Button onClick={() => void saveAs("mine")} loading={saving} data-testid="keep-mine">
            {t("Keep mine as version {n}", { n: theirs.number + 1 })}
          </Button>
          <Button
            variant="filled"
            onClick={() => void saveAs("merged")}
            loading={saving}
            disabled={open > 0}
            data-testid="save-merged"
          >
            {open > 0
              ? t("{n} to decide", { n: open })
              : t("Save the merge as version {n}", { n: theirs.number + 1 })}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
