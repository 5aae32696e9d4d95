import { useMemo, useState } from "react";
import { useDesigner } from "../designer/store";
import { type DocumentNode, edgeId, type Json, type TopologyDocument } from "../graph/document";
import { folded, groupsOf } from "../graph/drawing";
import { MARKS, type Mark, Picture } from "../picture/Picture";
import { t } from "../ui/i18n";
import { canonical, differences } from "../versions/merge";
import classes from "./versions.module.css";

/** Both sides in one drawing: the right one, with what only the left one has. */
export function joinedOf(left: TopologyDocument, right: TopologyDocument) {
  const marks = new Map<string, Mark>();
  for (const { base, id, mine } of differences(left, right, left)) {
    marks.set(id, base === null ? "added" : mine === null ? "removed" : "changed");
  }
  const [before, after] = [left, right].map((each) => new Set(each.edges.map(edgeId)));
  for (const id of before ?? []) if (!after?.has(id)) marks.set(id, "removed");
  for (const id of after ?? []) if (!before?.has(id)) marks.set(id, "added");
  const gone = <T,>(items: readonly T[], idOf: (item: T) => string) =>
    items.filter((item) => marks.get(idOf(item)) === "removed");
  const document: TopologyDocument = {
    ...right,
    nodes: [...right.nodes, ...gone(left.nodes, (node) => node.id)],
    edges: [...right.edges, ...gone(left.edges, edgeId)],
  };
  return { document, marks };
}

interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** The settings in which two nodes differ; null stands for one that is missing. */
export function settingsApart(
  before: DocumentNode | undefined,
  after: DocumentNode | undefined,
): Change[] {
  const parts = (node: DocumentNode | undefined): Readonly<Record<string, Json | undefined>> => {
    const { description, kind, label, params } = node ?? {};
    return { kind, label, description: description ?? undefined, ...params };
  };
  const [old, now] = [parts(before), parts(after)];
  const text = (value: Json | undefined) =>
    value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((name) => canonical(old[name] ?? null) !== canonical(now[name] ?? null))
    .map((name) => ({ name, before: text(old[name]), after: text(now[name]) }));
}

/** Part of its size to which a drawing shrinks to fit: names stay readable, and the rest is scrolled to. */
const SMALLEST = 0.6;

function readable(box: HTMLElement | null) {
  const svg = box?.querySelector("svg");
  if (svg == null) return;
  for (const [side, least, most] of [
    ["width", "minWidth", "maxWidth"],
    ["height", "minHeight", "maxHeight"],
  ] as const) {
    const size = Number(svg.getAttribute(side));
    svg.style[least] = `${Math.round(size * SMALLEST)}px`;
    svg.style[most] = `${size}px`;
  }
}

/** Two versions in one drawing, with what was added, removed and changed, and the settings of a chosen node. */
export function CompareCanvas({
  left,
  right,
}: {
  left: TopologyDocument;
  right: TopologyDocument;
}) {
  const catalog = useDesigner((state) => state.catalog);
  const { document, marks } = useMemo(() => joinedOf(left, right), [left, right]);
  const [chosen, setChosen] = useState<string | null>(null);
  const frames = useMemo(() => {
    const open = Object.fromEntries(groupsOf(document).map(({ id }) => [id, false]));
    return catalog === null ? null : folded(document, catalog, open);
  }, [document, catalog]);
  if (catalog === null || frames === null) return null;
  const find = ({ nodes }: TopologyDocument) => nodes.find((node) => node.id === chosen);
  const changes = chosen === null ? [] : settingsApart(find(left), find(right));
  const node = find(right) ?? find(left);
  return (
    <div className={classes.compareCanvas}>
      <ul className={classes.marks}>
        {(Object.keys(MARKS) as Mark[]).map((mark) => (
          <li key={mark} data-mark={mark}>
            {MARKS[mark].sign} {t(MARKS[mark].word)}
          </li>
        ))}
      </ul>
      <div
        className={`${classes.comparePicture} m-scroll`}
        data-testid="compare-canvas"
        ref={readable}
      >
        <Picture
          document={document}
          catalog={catalog}
          folded={frames}
          sentences={{}}
          color={(token) => `var(${token})`}
          marks={marks}
          onChoose={setChosen}
        />
      </div>
      <div className={classes.compareSettings} aria-live="polite" data-testid="compare-settings">
        {node === undefined ? (
          <p>{t("Choose a marked node to see its settings on both sides.")}</p>
        ) : (
          <table className="ui-table">
            <caption>{node.label ?? node.id}</caption>
            <thead>
              <tr>
                <th>{t("Setting")}</th>
                <th>{t("Left side")}</th>
                <th>{t("Right side")}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((change) => (
                <tr key={change.name}>
                  <td>{change.name}</td>
                  <td className="m-mono">{change.before}</td>
                  <td className="m-mono">{change.after}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </div>
  );
}
