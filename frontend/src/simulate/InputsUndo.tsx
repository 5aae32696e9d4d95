import { Button } from "@mantine/core";
import { type RefObject, useEffect } from "react";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import { isTyping, pressed } from "../ui/keys";
import classes from "./simulate.module.css";
import { useSimulation } from "./store";

/** What the last undo did, or that the inputs are empty because they were removed, with a button to get them back. */
export function Undone() {
  const { history, rows, stepInputs, undone } = useSimulation();
  const last = history.past.at(-1);
  if (undone !== null) {
    const back = undone.direction === "back";
    return (
      <Note>
        <span data-testid="inputs-undone">
          {back
            ? t("Undone in the inputs: {what}", { what: undone.label })
            : t("Done again in the inputs: {what}", { what: undone.label })}
        </span>
      </Note>
    );
  }
  if (rows.length > 0 || last === undefined || last.rows.length === 0) return null;
  return (
    <Note>
      <span className={classes.removed} data-testid="inputs-removed">
        {t("{n} {n, plural, one {row was} other {rows were}} removed.", { n: last.rows.length })}
        <Button variant="default" size="compact-xs" onClick={() => stepInputs("back")}>
          {t("Undo")}
        </Button>
      </span>
    </Note>
  );
}

/** The button that opened the menu around an element, which is elsewhere in the document; else the element. */
function ownerOf(element: Element): Element {
  const button = element.closest?.('[role="menu"]')?.getAttribute("aria-labelledby");
  return document.getElementById(button ?? "") ?? element;
}

/**
 * Makes Ctrl+Z in the panel undo changes of its inputs, never of the topology, also after the element that had the focus
 * disappeared, such as a row that is removed.
 */
export function useOwnUndo(box: RefObject<HTMLDivElement | null>) {
  useEffect(() => {
    let inside = false;
    const note = (event: Event) => {
      inside = box.current?.contains(ownerOf(event.target as Element)) === true;
    };
    const undo = (event: KeyboardEvent) => {
      const keys = pressed(event);
      const redo = keys === "Mod+Shift+Z" || keys === "Mod+Y";
      if (keys !== "Mod+Z" && !redo) return;
      const target = event.target as HTMLElement;
      if (!(target === document.body ? inside : box.current?.contains(target))) return;
      // Other text fields have the browser's own undo.
      if (isTyping(target) && target.closest("[data-row]") === null) return;
      event.preventDefault();
      useSimulation.getState().stepInputs(redo ? "forward" : "back");
    };
    window.addEventListener("pointerdown", note, true);
    window.addEventListener("focusin", note, true);
    window.addEventListener("keydown", undo, true);
    return () => {
      window.removeEventListener("pointerdown", note, true);
      window.removeEventListener("focusin", note, true);
      window.removeEventListener("keydown", undo, true);
    };
  }, [box]);
}
