import { create } from "zustand";

type DialogName = "commands" | "search" | "connect" | "pin" | "double" | "shortcuts" | "fragment";

/** The dialog of the designer that is open, if any. */
export const useDialogs = create<{ open: DialogName | null }>()(() => ({
  open: null,
}));

export function openDialog(open: DialogName | null) {
  useDialogs.setState({ open });
}
