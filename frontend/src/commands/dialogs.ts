import { create } from "zustand";

/** Which of the designer's own dialogs is open. */
export const useDialogs = create<{ open: "commands" | "search" | "shortcuts" | null }>()(() => ({
  open: null,
}));

export function openDialog(open: "commands" | "search" | "shortcuts" | null) {
  useDialogs.setState({ open });
}
