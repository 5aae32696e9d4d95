import { Menu } from "@mantine/core";
import { canRun, commandContext } from "../commands/command";
import { commandById } from "../commands/registry";
import { Keys } from "../ui";

const NODE = [
  "edit-node",
  "rename-node",
  "comment",
  null,
  "copy",
  "cut",
  "duplicate",
  null,
  "connect",
  "connect-to",
  "select-upstream",
  "select-downstream",
  "zoom-selection",
  null,
  "run-to",
  "mute",
  "double",
  "remove-double",
  null,
  "group",
  "leave-group",
  "make-fragment",
  "open-in-place",
  "dissolve-fragment",
  null,
  "delete-and-reconnect",
  "delete",
];
const INNER = [
  "open-in-place",
  null,
  "run-to",
  "mute",
  "double",
  "remove-double",
  null,
  "zoom-selection",
];
const EDGE = [
  "add-rule",
  "pin-records",
  "unpin-records",
  null,
  "bend-edge",
  "straighten-edge",
  null,
  "delete",
];
const BEND = ["remove-bend", "straighten-edge"];
const GROUP = [
  "fold-group",
  "zoom-selection",
  null,
  "copy",
  "cut",
  "duplicate",
  null,
  "group",
  "ungroup",
  "make-fragment",
  null,
  "delete",
];
const NOTE = ["edit-note", "copy", "cut", "duplicate", null, "delete"];
const PANE = [
  "add-node",
  "add-note",
  "paste",
  null,
  "select-all",
  "auto-layout",
  "zoom-fit",
  null,
  "export-svg",
  "export-png",
  "print",
  null,
  "search",
  "commands",
];

const LISTS = {
  node: NODE,
  inner: INNER,
  edge: EDGE,
  bend: BEND,
  group: GROUP,
  note: NOTE,
  pane: PANE,
} as const;

export interface ContextPlace {
  readonly x: number;
  readonly y: number;
  readonly over: "node" | "inner" | "edge" | "bend" | "group" | "note" | "pane";
}

/** The commands that apply to what is under the pointer. */
export function ContextMenu({ onClose, place }: { place: ContextPlace; onClose: () => void }) {
  const ids = LISTS[place.over];
  const context = commandContext();
  return (
    <Menu opened onClose={onClose} position="bottom-start" offset={0} width={264} returnFocus>
      <Menu.Target>
        <span className="context-place" style={{ left: place.x, top: place.y }} />
      </Menu.Target>
      <Menu.Dropdown>
        {ids.map((id, index) => {
          if (id === null) return <Menu.Divider key={`line-${index}`} />;
          const command = commandById(id);
          if (command === undefined) return null;
          const keys = command.shortcuts?.[0];
          return (
            <Menu.Item
              key={id}
              disabled={!canRun(command, context)}
              rightSection={keys === undefined ? null : <Keys keys={keys} />}
              onClick={() => void command.run(commandContext())}
            >
              {command.title()}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
