/** The topologies of *Learn*, from the simplest to the hardest: a template and what to try with it. */

import { type Phrase, phrase } from "../ui/i18n";

export interface Lesson {
  readonly template: string;
  readonly tries: readonly Phrase[];
}

const lesson = (template: string, ...tries: readonly Phrase[]): Lesson => ({ template, tries });

export const LESSONS: readonly Lesson[] = [
  lesson(
    "split-by-type",
    phrase({
      id: "learn.split_run",
      message:
        "Run it and step through the records: each event takes one branch, and those without a type take the default one.",
    }),
    phrase({
      id: "learn.split_branch",
      message: "Add a branch for the type “seen”, connect it to a new sink and run again.",
    }),
  ),
  lesson(
    "word-count",
    phrase({
      id: "learn.count_run",
      message: "Step through a sentence: it becomes words, and each word raises its count.",
    }),
    phrase({
      id: "learn.count_group",
      message:
        "Click the edge into the count: its words are repartitioned, as the key has changed.",
    }),
  ),
  lesson(
    "dead-letters",
    phrase({
      id: "learn.letters_run",
      message:
        "Find the invoice without items and the one that is not JSON: both go to the topic of dead letters.",
    }),
    phrase({
      id: "learn.letters_fail",
      message:
        "Set “Processing errors” of the topology to “Fail” and run again: the run stops at the first one.",
    }),
  ),
  lesson(
    "page-views",
    phrase({
      id: "learn.views_row",
      message:
        "Ada moves from north to south between two views: each view counts for the region of its moment.",
    }),
    phrase({
      id: "learn.views_inner",
      message: "Set the join to “inner”: the view of Cy, who is no user, is dropped.",
    }),
  ),
  lesson(
    "purchases-per-hour",
    phrase({
      id: "learn.hours_late",
      message: "One order comes too late. Simulate shows when its window was closed.",
    }),
    phrase({
      id: "learn.hours_grace",
      message: "Set the grace period to 20 minutes and run again: the same order counts.",
    }),
  ),
  lesson(
    "fraud-by-session",
    phrase({
      id: "learn.sessions_grow",
      message: "Each payment of card-1 extends its session, until five minutes pass without one.",
    }),
    phrase({
      id: "learn.sessions_gap",
      message:
        "Set the gap to 30 minutes and run again: the payment at minute 20 belongs to the same session.",
    }),
  ),
  lesson(
    "iot-sliding",
    phrase({
      id: "learn.sliding_windows",
      message: "Step through the readings of the boiler: one reading updates several windows.",
    }),
    phrase({
      id: "learn.sliding_late",
      message: "Set the grace period to 5 minutes: the late reading of 97 degrees counts.",
    }),
  ),
  lesson(
    "change-data-join",
    phrase({
      id: "learn.changes_customer",
      message: "Ada moves to Bergen: one change of a customer updates each of her orders.",
    }),
    phrase({
      id: "learn.changes_left",
      message: "Set the join to “left”: an order whose customer is missing appears without a name.",
    }),
  ),
  lesson(
    "deduplicate",
    phrase({
      id: "learn.once_breakpoint",
      message:
        "Set a breakpoint in the code of the processor: the run pauses at it for each record.",
    }),
    phrase({
      id: "learn.once_store",
      message: "Step to the last record: the store has one row for each id that was seen.",
    }),
  ),
  lesson(
    "word-count-processor",
    phrase({
      id: "learn.punctuation_run",
      message: "The counts are written when stream time has moved by a second, not with each word.",
    }),
    phrase({
      id: "learn.punctuation_wall",
      message:
        "Replace STREAM_TIME by WALL_CLOCK_TIME in the code: now only the advance of the clock writes the counts.",
    }),
  ),
];
