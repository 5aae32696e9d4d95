/** A command: a name, optional shortcuts, when it can run, and what it does. */

import { type CanvasApi, canvas } from "../designer/canvasApi";
import { type DesignerState, useDesigner } from "../designer/store";

export type CommandGroup = "edit" | "select" | "view" | "arrange" | "add" | "go" | "topology";

export interface CommandContext {
  readonly designer: DesignerState;
  readonly canvas: CanvasApi | null;
}

export interface Command {
  readonly id: string;
  readonly group: CommandGroup;
  title(): string;
  /** `Mod` is Ctrl, or ⌘ on a Mac. Menus show the first shortcut; all of them work. */
  readonly shortcuts?: readonly string[];
  /** Also runs while a text field has the focus. */
  readonly everywhere?: boolean;
  /** Opens a field with the focus, for which keys that are typed at once are kept. */
  readonly writes?: boolean;
  enabled?(context: CommandContext): boolean;
  run(context: CommandContext): void | Promise<void>;
}

export function commandContext(): CommandContext {
  return { designer: useDesigner.getState(), canvas: canvas() };
}

export function canRun(command: Command, context: CommandContext): boolean {
  return command.enabled === undefined || command.enabled(context);
}

/** For `enabled`: a topology is open and may be changed. */
export function editable({ designer }: CommandContext): boolean {
  return designer.topologyId !== null && !designer.readOnly;
}

/** For `enabled`: nodes of the document are selected, and not one within a fragment. */
export function hasNodes({ designer: { selection } }: CommandContext): boolean {
  return selection.nodes.length > 0 && selection.inner === undefined;
}

/** For `enabled`: nodes or notes are selected. */
export function hasMarks(context: CommandContext): boolean {
  return hasNodes(context) || (context.designer.selection.notes?.length ?? 0) > 0;
}

/** The selected nodes for what runs in simulations: the one within a fragment, or those of the document. */
export function chosenNodes({ designer: { selection } }: CommandContext): readonly string[] {
  return selection.inner === undefined ? selection.nodes : [selection.inner];
}
