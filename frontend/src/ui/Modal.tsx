import { Modal as Mantine, type ModalProps } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "./i18n";

/** The element that has the focus, and those that opened the menus and windows around it. */
function openers(): HTMLElement[] {
  const found: HTMLElement[] = [];
  let at = document.activeElement;
  while (at instanceof HTMLElement && at !== document.body) {
    found.push(at);
    const label: string | null | undefined = at
      .closest('[role="menu"], [role="dialog"]')
      ?.getAttribute("aria-labelledby");
    const next = document.getElementById(label?.split(" ")[0] ?? "");
    if (next === null || found.includes(next)) break;
    at = next;
  }
  return found;
}

/** Restores the focus when the component is unmounted. */
function useFocusReturn() {
  const [before] = useState(openers);
  useEffect(
    () => () => {
      setTimeout(() => {
        const { activeElement } = document;
        if (activeElement !== null && activeElement !== document.body) return;
        before.find((each) => each.isConnected)?.focus({ preventScroll: true });
      });
    },
    [before],
  );
}

/** Fields that search hold nothing that would be lost. */
const SEARCHES = "[type=search], [role=combobox], [role=searchbox]";

/** A dialog that is open as long as it is mounted. Once something was typed, a click beside it does not close it. */
export function Modal(props: ModalProps) {
  useFocusReturn();
  const [typed, setTyped] = useState(false);
  return (
    <Mantine
      closeButtonProps={{ "aria-label": t("Close") }}
      closeOnClickOutside={!typed}
      onInput={({ target }) => setTyped(typed || !(target as Element).matches(SEARCHES))}
      {...props}
    />
  );
}
