import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "..");
/** A bar of the bottom panel, not a list of rows. */
const OTHERS = ["runtime/HistoryView.tsx"];

test("every list of pages is in the one frame", () => {
  const lists = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter(
    (path) =>
      path.endsWith(".tsx") &&
      !path.includes(".test.") &&
      path !== join("app", "paging.tsx") &&
      readFileSync(join(SOURCE, path), "utf8").includes("usePages("),
  );
  expect(lists.length).toBeGreaterThan(8);
  const own = lists.filter(
    (path) => !readFileSync(join(SOURCE, path), "utf8").includes("<ListFrame"),
  );
  expect(own).toEqual(OTHERS);
});
