import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { zh } from "./zh";

const ROOMS = ["api", "app", "pages", "code", "plan", "problems", "deployments", "runtime"];

function sources(): string[] {
  return ROOMS.flatMap((room) =>
    readdirSync(join(import.meta.dirname, "..", room))
      .filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))
      .map((name) => readFileSync(join(import.meta.dirname, "..", room, name), "utf8")),
  );
}

/** Sentences that are looked up by a name, not written in the call. */
const INDIRECT = [
  ...["Light", "Dark", "As the system", "Viewer", "Editor", "Operator", "Admin"],
  ...["looks", "draws and saves", "deploys and stops", "manages members"],
  ...["Waiting", "Compiling", "Checking", "Staging", "Starting", "Running", "Degraded"],
  ...["Restarting", "Stopping", "Stopped", "Failed", "Unknown"],
  ...["Compile", "Check topics and state", "Stage the job", "Start the driver", "Run"],
  ...["As fast as it can", "Every 500 ms", "Every second", "Every 10 seconds"],
  ...["Real time: each record at once"],
  ...["Task", "Topic-partition", "Executor", "Thread", "Offset", "Lag", "Rate", "Records"],
  ...["State rows", "Stream time", "Everything", "Info and up", "Warnings and errors", "Errors"],
  ...["Show problems", "Show code", "Show plan", "Show assignment", "Show logs", "Show runs"],
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
