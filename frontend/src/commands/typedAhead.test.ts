// @vitest-environment happy-dom
import { beforeEach, expect, test } from "vitest";
import { useDesigner } from "../designer/store";
import { useDialogs } from "./dialogs";
import { editor } from "./kit";
import { dispatch } from "./shortcuts";

beforeEach(() => {
  document.body.innerHTML = "";
  useDialogs.setState({ open: null });
});

function press(key: string, more: KeyboardEventInit = {}): boolean {
  let handled = false;
  const listen = (event: KeyboardEvent) => {
    handled = dispatch(event);
  };
  window.addEventListener("keydown", listen);
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  window.removeEventListener("keydown", listen);
  return handled;
}

/** A field that gets the focus later than the keys, as one that has to be loaded. */
async function field(): Promise<HTMLInputElement> {
  const made = document.createElement("input");
  document.body.append(made);
  made.focus();
  await Promise.resolve();
  return made;
}

test("what is typed before the field has the focus goes into it, and mutes no node", async () => {
  const drawn = editor();
  const node = drawn.drop("filter");
  drawn.select(node);
  press("f", { ctrlKey: true });
  expect(useDialogs.getState().open).toBe("search");
  for (const key of "ordr") expect(press(key)).toBe(true);
  press("Backspace");
  press("e");
  expect((await field()).value).toBe("orde");
  expect(useDesigner.getState().document.drawing?.muted).toBeUndefined();
  expect(drawn.document().nodes).toHaveLength(1);
});

test("a pointer or Escape ends the waiting, and keys run commands again", async () => {
  const drawn = editor();
  drawn.select(drawn.drop("filter"));
  press("f", { ctrlKey: true });
  press("d");
  window.dispatchEvent(new Event("pointerdown"));
  press("d");
  expect(useDesigner.getState().document.drawing?.muted).toHaveLength(1);
  press("f", { ctrlKey: true });
  press("x");
  press("Escape");
  expect((await field()).value).toBe("");
});
