/** Maps key presses to commands. */

import { isTyping, pressed } from "../ui/keys";
import { canRun, commandContext } from "./command";
import { allCommands } from "./registry";
import { holdTyped, wasHeld } from "./typedAhead";

function inList(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("[role=dialog], [role=menu], [role=listbox]") !== null
  );
}

/** True in parts of the page where plain keys have another meaning; shortcuts with Ctrl still work there. */
function hasOwnKeys(target: EventTarget | null, keys: string): boolean {
  return (
    !keys.startsWith("Mod+") &&
    target instanceof HTMLElement &&
    target.closest("[data-own-keys]") !== null
  );
}

/** Runs the command of a key press; true if there was one. */
export function dispatch(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing) return false;
  const keys = pressed(event);
  const typing = isTyping(event.target);
  if (!typing && wasHeld(event)) {
    event.preventDefault();
    return true;
  }
  const context = commandContext();
  for (const command of allCommands()) {
    if (!command.shortcuts?.includes(keys)) continue;
    const elsewhere = typing || inList(event.target) || hasOwnKeys(event.target, keys);
    if (elsewhere && command.everywhere !== true) continue;
    // Enter and Space press the focused button, and arrows move between tabs.
    if (
      command.everywhere !== true &&
      event.target instanceof HTMLElement &&
      event.target.closest("button, a, [role=tab], [role=radio]") !== null &&
      /^(Enter|Arrow.*| )$/.test(keys)
    ) {
      continue;
    }
    if (!canRun(command, context)) continue;
    event.preventDefault();
    if (command.writes === true) holdTyped();
    void command.run(context);
    return true;
  }
  return false;
}
