/** The choice between two sides of a conflict, node by node. */

import { useState } from "react";
import { Segments } from "../ui";
import { t } from "../ui/i18n";
import { canonical, type NodeDifference, type Side } from "./merge";
import classes from "./sides.module.css";

/** Nodes that differ between two sides, each with the choice of a side. */
export function Sides(props: {
  found: readonly NodeDifference[];
  choices: ReadonlyMap<string, Side>;
  onChoices: (choices: ReadonlyMap<string, Side>) => void;
}) {
  const { choices, found } = props;
  return (
    <div className={`${classes.list} m-scroll`}>
      {found.map((each) => (
        <Difference
          key={each.id}
          difference={each}
          side={choices.get(each.id) ?? (each.conflict ? null : each.proposed)}
          onSide={(side) => props.onChoices(new Map(choices).set(each.id, side))}
        />
      ))}
    </div>
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

/** A node that differs: what each side did, its settings on both sides, and the choice between them. */
function Difference(props: {
  difference: NodeDifference;
  /** Null: a person has to choose. */
  side: Side | null;
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
        {props.side !== null ? null : <span className={classes.open}>{t("both changed it")}</span>}
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
function Text(props: { difference: NodeDifference; side: Side; chosen: Side | null }) {
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
