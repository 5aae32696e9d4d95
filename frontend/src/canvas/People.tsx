import "./people.css";
import { useStore, ViewportPortal } from "@xyflow/react";
import { drawnOf, foldedOf } from "../designer/drawn";
import { colorOf, initialsOf, type Person, usePresence } from "../designer/presence";
import { useDesigner } from "../designer/store";
import { t } from "../ui/i18n";
import { groupFlowId } from "./flow";

/** A ring around a node that other people edit, with a name at its corner. */
function Mark({ people }: { people: readonly Person[] }) {
  const [first] = people;
  const group = useDesigner((state) => {
    const hiding = first?.node == null ? undefined : foldedOf(state).hidden.get(first.node);
    return hiding === undefined ? undefined : groupFlowId(hiding.group.id);
  });
  const place = useStore((state) => {
    const found = first?.node == null ? undefined : state.nodeLookup.get(first.node);
    const hiding = group === undefined ? undefined : state.nodeLookup.get(group);
    const node = hiding ?? found;
    if (node === undefined) return null;
    const { x, y } = node.internals.positionAbsolute;
    return `${x} ${y} ${node.width ?? node.measured.width} ${node.height ?? node.measured.height}`;
  });
  if (first === undefined || place === null) return null;
  const [x, y, width, height] = place.split(" ").map(Number);
  const names = people.map((person) => person.name).join(", ");
  return (
    <div
      className="person-ring"
      data-person-node={first.node}
      style={{
        transform: `translate(${x}px, ${y}px)`,
        width,
        height,
        ...{ "--person": colorOf(first.id) },
      }}
      role="img"
      aria-label={t("{names} {n, plural, one {is} other {are}} editing this node", {
        names,
        n: people.length,
      })}
    >
      <span
        title={t("{names} {n, plural, one {is} other {are}} editing this node", {
          names,
          n: people.length,
        })}
      >
        {initialsOf(first.name)}
        {people.length > 1 ? ` +${people.length - 1}` : ""}
      </span>
    </div>
  );
}

/** The pointers of others, with their names, of the same size at each zoom. */
function Pointers({ people }: { people: readonly Person[] }) {
  const cursors = usePresence((state) => state.cursors);
  const scale = useStore((state) => 1 / state.transform[2]);
  const drawn = useDesigner(drawnOf);
  return people.map(({ id, name }) => {
    const place = cursors[id];
    if (place === undefined) return null;
    const { x, y } = drawn.toDrawing({ x: place[0], y: place[1] });
    return (
      <div
        key={id}
        className="person-cursor"
        data-person={id}
        style={{
          transform: `translate(${x}px, ${y}px) scale(${scale})`,
          ...{ "--person": colorOf(id) },
        }}
        role="img"
        aria-label={t("The pointer of {name}", { name })}
      >
        <svg width="16" height="18" viewBox="0 0 16 18" aria-hidden="true">
          <path d="M1 1 14.5 9.5 8.2 10.6 5 16.6Z" />
        </svg>
        <span>{name}</span>
      </div>
    );
  });
}

/** The nodes that others edit and their pointers, drawn over the nodes so that they do not render again. */
export function People() {
  const people = usePresence((state) => state.people);
  const nodes = [...new Set(people.map((person) => person.node))].filter((node) => node !== null);
  return (
    <ViewportPortal>
      <Pointers people={people} />
      {nodes.map((node) => (
        <Mark key={node} people={people.filter((person) => person.node === node)} />
      ))}
    </ViewportPortal>
  );
}
