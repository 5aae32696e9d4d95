/** All commands: the designer's own and those that the page adds. */

import { addNode } from "./addNode";
import { addRule } from "./addRule";
import * as arrange from "./arrange";
import { autoLayout } from "./autoLayout";
import * as bends from "./bends";
import type { Command } from "./command";
import { connectNodes } from "./connectNodes";
import { connectTo } from "./connectTo";
import { copy } from "./copy";
import { cutNodes } from "./cutNodes";
import { duplicate } from "./duplicate";
import { editNode } from "./editNode";
import { exportDocument } from "./exportDocument";
import * as fragments from "./fragments";
import * as groups from "./groups";
import { learn, tour } from "./guides";
import { help } from "./help";
import { nextProblem } from "./nextProblem";
import { openCommands } from "./openCommands";
import { openShortcuts } from "./openShortcuts";
import * as part from "./part";
import { pasteNodes } from "./pasteNodes";
import * as picture from "./picture";
import { redo } from "./redo";
import { remove } from "./remove";
import { removeAndReconnect } from "./removeAndReconnect";
import { renameNode } from "./renameNode";
import { searchCanvas } from "./searchCanvas";
import { searchPalette } from "./searchPalette";
import { selectAll } from "./selectAll";
import { selectDownstream } from "./selectDownstream";
import { selectNone } from "./selectNone";
import { selectUpstream } from "./selectUpstream";
import { undo } from "./undo";
import * as view from "./view";
import * as walk from "./walk";

const own: readonly Command[] = [
  openCommands,
  addNode,
  searchPalette,
  searchCanvas,
  undo,
  redo,
  cutNodes,
  copy,
  pasteNodes,
  duplicate,
  remove,
  removeAndReconnect,
  connectNodes,
  connectTo,
  addRule,
  editNode,
  renameNode,
  selectAll,
  selectNone,
  selectUpstream,
  selectDownstream,
  ...Object.values(walk),
  nextProblem,
  autoLayout,
  groups.group,
  groups.ungroup,
  groups.leaveGroup,
  groups.foldGroup,
  groups.collapseAll,
  groups.expandAll,
  groups.addNote,
  groups.editNote,
  ...Object.values(fragments),
  ...Object.values(part),
  ...Object.values(bends),
  ...Object.values(arrange),
  ...Object.values(view),
  exportDocument,
  ...Object.values(picture),
  help,
  tour,
  learn,
  openShortcuts,
];

const added = new Map<string, Command>();

/** Registers a command of the surrounding page; returns a function that removes it. */
export function registerCommand(command: Command): () => void {
  added.set(command.id, command);
  return () => {
    if (added.get(command.id) === command) added.delete(command.id);
  };
}

export function allCommands(): readonly Command[] {
  return [...added.values(), ...own];
}

export function commandById(id: string): Command | undefined {
  return allCommands().find((command) => command.id === id);
}
