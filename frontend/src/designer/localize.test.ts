import { afterEach, expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { searchKinds } from "../graph/search";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { catalog } from "../ui/zh";
import { localize } from "./localize";

afterEach(() => setLanguage("en"));

test("every family, kind, parameter, format and choice has a Chinese name", () => {
  const parameters = [...CATALOG.kinds.flatMap((kind) => kind.parameters), ...CATALOG.settings];
  const words = [
    ...CATALOG.families.map((family) => family.title),
    ...CATALOG.kinds.flatMap((kind) => [kind.title, kind.description]),
    ...parameters.map((parameter) => parameter.title),
    ...parameters.flatMap((parameter) => parameter.choices ?? []),
  ];
  expect([...new Set(words)].filter((word) => !(word in catalog))).toEqual([]);
});

test("in Chinese a kind is found by both its names, in English nothing changes", async () => {
  expect(localize(CATALOG)).toBe(CATALOG);
  setLanguage("zh");
  await fetchTexts("zh");
  const chinese = localize(CATALOG);
  expect(searchKinds(chinese, "过滤")[0]?.kind).toBe("filter");
  expect(searchKinds(chinese, "filter")[0]?.kind).toBe("filter");
});
