import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { useDesigner } from "../designer/store";
import { notify } from "../frame/notify";
import { Note, Segments } from "../ui";
import { ago } from "../ui/format";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { type Conflict, saveVersion, takeTheirs, useEditing } from "../versions/editing";
import { canonical, differences, merged, type NodeDifference, type Side } from "../versions/merge";
import classes from "./conflict.module.css";

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
          {ago(theirs.created_at)}.{" "}
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
          <div className={`${classes.list} m-scroll`}>
            {found.map((each) => (
              <Difference
                key={each.id}
                difference={each}
                side={choices.get(each.id) ?? each.proposed}
                decided={!each.conflict || choices.has(each.id)}
                onSide={(side) => setChoices(new Map(choices).set(each.id, side))}
              />
            ))}
          </div>
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

function verb(difference: NodeDifference, side: Side): string {
  const node = difference[side];
  if (node === null) return difference.base === null ? t("missing") : t("removed");
  if (difference.base === null) return t("added");
  const { position: _a, ...now } = node;
  const { position: _b, ...before } = difference.base;
  return canonical(now) === canonical(before) ? t("unchanged") : t("changed");
}

function Difference(props: {
  difference: NodeDifference;
  side: Side;
  decided: boolean;
  onSide: (side: Side) => void;
}) {
  const { difference } = props;
  const [opened, setOpened] = useState(difference.conflict);
  return (
    <div className={classes.difference}>
      <div className={classes.head}>
        <button
          type="button"
          className={classes.name}
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {difference.label}
          <span className={classes.kind}>{difference.kind}</span>
        </button>
        {props.decided ? null : <span className={classes.open}>{t("both changed it")}</span>}
        <Segments<Side>
          label={t("Side for {node}", { node: difference.label })}
          value={props.side}
          onChange={props.onSide}
          items={[
            { id: "mine", title: t("Mine: {what}", { what: verb(difference, "mine") }) },
            { id: "theirs", title: t("Theirs: {what}", { what: verb(difference, "theirs") }) },
          ]}
        />
      </div>
      {opened ? (
        <div className={classes.sides}>
          <Text difference={difference} side="mine" chosen={props.side} />
          <Text difference={difference} side="theirs" chosen={props.side} />
        </div>
      ) : null}
    </div>
  );
}

/** One side of a node as text; lines that the other side does not have are marked. */
function Text(props: { difference: NodeDifference; side: Side; chosen: Side }) {
  const { chosen, difference, side } = props;
  const other = new Set(written(difference, side === "mine" ? "theirs" : "mine").split("\n"));
  const lines = written(difference, side).split("\n");
  return (
    <pre data-chosen={chosen === side}>
      {lines.map((line, at) => (
        <span key={at} data-differs={!other.has(line) || undefined}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}

function written(difference: NodeDifference, side: Side): string {
  const node = difference[side];
  if (node === null) return "";
  const { id: _id, kind: _kind, position: _position, ...rest } = node;
  return JSON.stringify(rest, null, 2);
}
