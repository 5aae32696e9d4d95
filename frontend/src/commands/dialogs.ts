import { create } from "zustand";

type DialogName = "commands" | "search" | "connect" | "shortcuts";

/** Which of the designer's own dialogs is open. */
export const useDialogs = create<{ open: DialogName | null }>()(() => ({
  open: null,
}));

export function openDialog(open: DialogName | null) {
  useDialogs.setState({ open });
}
