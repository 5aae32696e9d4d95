import { useStore, ViewportPortal } from "@xyflow/react";
import { colorOf, initialsOf, type Person, usePresence } from "../designer/presence";
import { foldedOf, useDesigner } from "../designer/store";
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

/** The nodes that others edit, drawn over the nodes so that they do not render again. */
export function PeopleOnNodes() {
  const people = usePresence((state) => state.people);
  const nodes = [...new Set(people.map((person) => person.node))].filter((node) => node !== null);
  if (nodes.length === 0) return null;
  return (
    <ViewportPortal>
      {nodes.map((node) => (
        <Mark key={node} people={people.filter((person) => person.node === node)} />
      ))}
    </ViewportPortal>
  );
}
