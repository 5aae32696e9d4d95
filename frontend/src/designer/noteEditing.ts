import { create } from "zustand";

/** The note whose text is being edited on the canvas. */
export const useNoteEditing = create<{ id: string | null }>()(() => ({ id: null }));
