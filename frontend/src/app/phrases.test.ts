import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { zh } from "./zh";

const ROOMS = [
  "alerts",
  "api",
  "app",
  "pages",
  "versions",
  "code",
  "plan",
  "problems",
  "deployments",
  "runtime",
  "stores",
  "topics",
];

function sources(): string[] {
  return ROOMS.flatMap((room) =>
    readdirSync(join(import.meta.dirname, "..", room))
      .filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))
      .map((name) => readFileSync(join(import.meta.dirname, "..", room, name), "utf8")),
  );
}

/** Sentences that are looked up by a name, not written in the call. */
const INDIRECT = [
  ...["Light", "Dark", "System", "Viewer", "Editor", "Operator", "Admin"],
  ...["can view", "can draw and save", "can deploy and stop", "can manage members"],
  ...["Not started", "Compiling", "Checking", "Staging", "Starting", "Running"],
  ...["Restarting", "Paused", "Degraded", "Stopping", "Stopped", "Failed", "Unknown"],
  ...["Fail, and read nothing", "Continue at the first record", "Continue at the end"],
  ...["Compile", "Check topics", "Stage the job", "Start the driver", "Run"],
  ...["As fast as possible", "Every 500 ms", "Every second", "Every 10 seconds"],
  ...["Broker's default", "1 day", "7 days", "For ever"],
  ...["As each source says", "Earliest record", "Latest record"],
  ...["Where it stopped", "A time", "Given offsets"],
  "The stores keep their rows: records that are read again are counted again, and those of windows that have closed are dropped as late.",
  "Results of records that are read again are written to the sinks again.",
  "Records between where it stopped and where it starts are not read.",
  "All stores are empty: records before the offsets where it starts are not in them.",
  ...["Real time: each record at once"],
  ...["Task", "Topic-partition", "Executor", "Last thread", "Offset", "Lag", "Rate", "Records"],
  ...["State rows", "Stream time", "Everything", "Info and above", "Warnings and errors", "Errors"],
  ...["Show problems", "Show code", "Show plan", "Show assignment", "Show logs", "Show runs"],
  "Show records",
  ...[
    "The deployment failed",
    "Its state is unknown",
    "It is degraded, restarts or waits for a service",
  ],
  ...["Dropped records", "Time without a record", "records", "s", "records/s"],
  ...["The deployment started", "Another version started", "Executors came or went"],
  ...["The driver before was lost or failed", "The driver before ended in an outage"],
  "Spark moved it",
  ...["Show charts", "Records", "Lag", "State", "Batches", "Records in", "Records out", "Dropped"],
  ...["Latency", "From the record's time (p50)", "From the record's time (p99)"],
  ...["From its arrival (p50)", "From its arrival (p99)"],
  ...["Latency from the record's time (p99)", "Latency from its arrival (p99)"],
  ...["Dropped, by reason", "Dead letters", "Records by task", "Lag in records", "Lag in time"],
  ...["Lag by task", "Distance of stream time from now", "Rows of stores", "Bytes of stores"],
  ...["State rows by task", "Duration of batches", "Phases of batches"],
  ...["15 min", "1 h", "6 h", "24 h", "7 d", "14 d"],
  "Show state",
  ...["Show simulation", "Simulation: previous step", "Simulation: next step"],
  "Simulation: next record that ended",
  ...["Kept", "Migrated", "Incompatible", "New", "Lost"],
  "A wider type holds all values.",
  "Fields are added; they are null in old rows.",
  "Fields are in another order.",
  "Fields are removed.",
  "The number of tasks changes.",
  "It becomes another kind of store.",
  "Its keys have another type.",
  "Its values have another type.",
  "Its windows change.",
  ...["Newest first", "From the beginning", "From an offset", "From a time"],
  ...["Guessed", "Text", "JSON", "Integer", "Long", "Float", "Double", "Boolean", "Bytes", "Null"],
  ...["running", "starting", "degraded", "failed", "unknown"],
];

test("every sentence of the page has a Chinese one with the same values", () => {
  const used = new Set(INDIRECT);
  for (const text of sources()) {
    for (const match of text.matchAll(/\bt\(\s*"((?:[^"\\]|\\.)*)"/g)) used.add(match[1] ?? "");
  }
  const values = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  const missing = [...used].filter((text) => zh[text] === undefined);
  expect(missing).toEqual([]);
  const different = [...used].filter(
    (text) => values(text).join() !== values(zh[text] ?? "").join(),
  );
  expect(different).toEqual([]);
  expect(Object.keys(zh).filter((text) => !used.has(text))).toEqual([]);
});
