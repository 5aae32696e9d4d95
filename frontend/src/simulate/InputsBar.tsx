import { ActionIcon, Button } from "@mantine/core";
import IconUndo from "@tabler/icons-react/dist/esm/icons/IconArrowBackUp.mjs";
import IconRedo from "@tabler/icons-react/dist/esm/icons/IconArrowForwardUp.mjs";
import { type RefObject, useEffect } from "react";
import { Note, Segments, Tip } from "../ui";
import { t } from "../ui/i18n";
import { isTyping, pressed } from "../ui/keys";
import type { Order } from "./ordering";
import classes from "./simulate.module.css";
import { useSimulation } from "./store";

/** In which order the rows are processed, and what that means. */
export function InputsBar() {
  const order = useSimulation((state) => state.order);
  return (
    <div className={classes.order} data-testid="inputs-order">
      <Segments<Order>
        label={t("Order of the inputs")}
        value={order}
        onChange={(chosen) => useSimulation.getState().setOrder(chosen)}
        items={[
          { id: "time", title: t("By time") },
          { id: "listed", title: t("As listed") },
        ]}
      />
      <span>
        {order === "time"
          ? t({
              id: "simulate.as_in_production_of_each",
              message:
                "As in production: of each partition in the listed order, and of the partitions the one whose next record has the smallest timestamp. The numbers show this order.",
            })
          : t({
              id: "simulate.in_order_of_rows",
              message:
                "In the order of the rows, as if each record arrived after the one above it.",
            })}
      </span>
    </div>
  );
}

/** Undo and redo of changes of the inputs. */
export function UndoButtons() {
  const { history, stepInputs } = useSimulation();
  const names = { back: t("Undo"), forward: t("Redo") };
  const button = (direction: "back" | "forward", keys: string, Shape: typeof IconUndo) => {
    const label = (direction === "back" ? history.past : history.future).at(-1)?.label;
    const name = label === undefined ? names[direction] : `${names[direction]}: ${label}`;
    return (
      <Tip text={name} keys={keys}>
        <ActionIcon
          variant="subtle"
          aria-label={name}
          disabled={label === undefined}
          onClick={() => stepInputs(direction)}
          data-testid={`inputs-${direction === "back" ? "undo" : "redo"}`}
        >
          <Shape size={16} stroke={1.5} />
        </ActionIcon>
      </Tip>
    );
  };
  return (
    <>
      {button("back", "Mod+Z", IconUndo)}
      {button("forward", "Mod+Shift+Z", IconRedo)}
    </>
  );
}

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

/**
 * Makes Ctrl+Z in the panel undo changes of its inputs, never of the topology, also after the element that had the focus
 * disappeared, such as a row that is removed.
 */
export function useOwnUndo(box: RefObject<HTMLDivElement | null>) {
  useEffect(() => {
    let inside = false;
    const note = (event: Event) => {
      inside = box.current?.contains(event.target as Node) === true;
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
