import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const text = readFileSync(join(import.meta.dirname, "tokens.css"), "utf8");
const [light = "", dark = ""] = text.split(':root[data-mantine-color-scheme="dark"] {');

function colors(part: string): Record<string, string> {
  return Object.fromEntries(
    [...part.matchAll(/--m-([\w-]+): (#[0-9a-f]{6});/g)].map((match) => [match[1], match[2]]),
  );
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [bright = 0, dim = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (bright + 0.05) / (dim + 0.05);
}

const TEXTS = [
  "text",
  "muted",
  "faint",
  "accent-text",
  "failed-text",
  "degraded-text",
  "running-text",
];
const CODE = ["code-string", "code-number", "code-keyword", "code-function", "code-comment"];
const GROUNDS = ["panel", "sunken", "canvas", "hover", "raised"];

test.each([
  ["light", colors(light)],
  ["dark", { ...colors(light), ...colors(dark) }],
])("every text can be read on every ground in the %s theme", (_name, theme) => {
  const pairs = [
    ...TEXTS.flatMap((name) => GROUNDS.map((ground) => [name, ground] as const)),
    ...CODE.flatMap((name) => ["panel", "sunken"].map((ground) => [name, ground] as const)),
    ["on-accent", "accent"] as const,
    ["on-accent", "accent-hover"] as const,
    ["on-accent", "danger"] as const,
    ["on-accent", "danger-hover"] as const,
    ["accent-text", "accent-soft"] as const,
    ...["failed", "degraded", "running", "starting"].map(
      (state) => [`${state}-text`, `${state}-soft`] as const,
    ),
  ];
  const weak = pairs.filter(
    ([name, ground]) => contrast(theme[name] ?? "", theme[ground] ?? "") < 4.5,
  );
  expect(weak).toEqual([]);
});

test("the hues of families and areas stand out from the panel in both themes", () => {
  for (const theme of [colors(light), { ...colors(light), ...colors(dark) }]) {
    const hues = Object.keys(theme).filter((name) => /^(hue|area)-/.test(name));
    expect(hues).toHaveLength(15);
    expect(hues.filter((name) => contrast(theme[name] ?? "", theme.panel ?? "") < 3)).toEqual([]);
  }
});
