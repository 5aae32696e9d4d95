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

export function hasNodes(context: CommandContext): boolean {
  return context.designer.selection.nodes.length > 0;
}

/** For `enabled`: nodes or notes are selected. */
export function hasMarks({ designer: { selection } }: CommandContext): boolean {
  return selection.nodes.length + (selection.notes?.length ?? 0) > 0;
}
