/** What the tab *Records* shows of an edge: its records, or its most frequent keys. */

import { create } from "zustand";

export const useRecordsView = create<{ shape: "records" | "keys" }>()(() => ({ shape: "records" }));
