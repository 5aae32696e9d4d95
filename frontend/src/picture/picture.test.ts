// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { editor } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { setPoints } from "../graph/bends";
import { setLabel } from "../graph/changes";
import { addNote } from "../graph/drawing";
import { t } from "../ui/i18n";
import { drawPicture } from "./index";
import { fitted, noteLines, wrapped } from "./text";

const texts = () =>
  [...(drawPicture()?.querySelectorAll("text") ?? [])].map((each) => each.textContent);

test("a picture has all nodes, edges and notes, and a box for a collapsed group", async () => {
  const drawn = editor();
  const source = drawn.drop("source.stream", { at: { x: 0, y: 0 } });
  const filter = drawn.drop("filter", { at: { x: 4000, y: 0 } });
  drawn.connect(source, filter);
  useDesigner.getState().change(t("Rename the node"), (document) => {
    return addNote(setLabel(document, filter, "a < b & c"), { x: 0, y: 300 }, "# Why\n- **late**")
      .document;
  });
  expect(texts()).toEqual(expect.arrayContaining(["a < b & c", "Why", "• late"]));
  expect(drawPicture()?.querySelectorAll("g[fill=none] > path")).toHaveLength(1);
  expect(Number(drawPicture()?.getAttribute("width"))).toBeGreaterThan(4000);
  expect(drawPicture()?.outerHTML).toContain("a &lt; b &amp; c");
  drawn.select(source, filter);
  await drawn.run("group");
  await drawn.run("fold-group");
  expect(texts()).toContain("2 nodes");
  expect(texts()).not.toContain("a < b & c");
  expect(drawPicture()?.querySelectorAll("g[fill=none] > path")).toHaveLength(0);
});

test("a picture has the bends of edges, also where they are outside of the nodes", () => {
  const drawn = editor();
  const source = drawn.drop("source.stream", { at: { x: 0, y: 0 } });
  const filter = drawn.drop("filter", { at: { x: 400, y: 0 } });
  drawn.connect(source, filter);
  const height = () => Number(drawPicture()?.getAttribute("height"));
  const before = height();
  useDesigner
    .getState()
    .change(t("Bend the edge"), (now) =>
      setPoints(now, { source, target: filter }, [{ x: 300, y: -400 }]),
    );
  expect(height()).toBeGreaterThan(before + 300);
  const way = drawPicture()?.querySelector("g[fill=none] > path")?.getAttribute("d");
  expect(way).toContain("Q300 -400 ");
});

test("what is too long is cut, and notes are broken into lines", () => {
  expect(fitted("short", 200, 12)).toBe("short");
  expect(fitted("a very long label that has no room", 60, 12)).toMatch(/^a very.*…$/);
  for (const line of wrapped("one two three four five seven", 80, 12)) {
    expect(line.length * 12 * 0.56).toBeLessThanOrEqual(80);
  }
  expect(wrapped("x".repeat(40), 80, 12).join("")).toBe("x".repeat(40));
  expect(noteLines("1. `a`\n2. [b](https://c)", 200, 12).map((line) => line.text)).toEqual([
    "1. a",
    "2. b",
  ]);
});
