import { create } from "zustand";

/** Whether the chunk of a page is being loaded. The page before it stays visible meanwhile. */
export const usePageLoading = create<{ loading: boolean }>()(() => ({ loading: false }));
