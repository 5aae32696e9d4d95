/** Whether the *Records* tab shows the records of an edge or its most frequent keys. */

import { create } from "zustand";

export const useRecordsView = create<{ shape: "records" | "keys" }>()(() => ({ shape: "records" }));
