import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "..");

/** Components with two primary buttons of which never both are in one bar or window. */
const APART = new Set([
  // The button in the top bar, and that of its options.
  "deployments/DeployButton.tsx: DeployButton",
  // A change with conflicts, or one without.
  "git/ChangeDialog.tsx: Change",
]);

/** The components of a file, with their text. */
function componentsOf(text: string): [string, string][] {
  return text
    .split(/\n(?=(?:export )?(?:default )?function |(?:export )?const [A-Z]\w* = )/)
    .map((part) => [/(?:function|const) (\w+)/.exec(part)?.[1] ?? "", part]);
}

test("a dialog or banner has one primary action", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".tsx") && !path.includes(".test."));
  let primary = 0;
  const crowded = files.flatMap((path) =>
    componentsOf(readFileSync(join(SOURCE, path), "utf8")).flatMap(([name, text]) => {
      const n = text.match(/variant="filled"|<DialogEnd\b/g)?.length ?? 0;
      primary += n;
      const place = `${path}: ${name}`;
      return n > 1 && !APART.has(place) ? [place] : [];
    }),
  );
  expect(primary).toBeGreaterThan(30);
  expect(crowded).toEqual([]);
});
