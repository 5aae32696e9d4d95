import { afterEach, expect, test } from "vitest";
import { CATALOGUE } from "../commands/kit";
import { searchKinds } from "../graph/search";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { catalogue } from "../ui/zh";
import { localize } from "./localize";

afterEach(() => setLanguage("en"));

test("every family, kind, parameter, format and choice has a Chinese name", () => {
  const parameters = [...CATALOGUE.kinds.flatMap((kind) => kind.parameters), ...CATALOGUE.settings];
  const words = [
    ...CATALOGUE.families.map((family) => family.title),
    ...CATALOGUE.kinds.flatMap((kind) => [kind.title, kind.description]),
    ...parameters.map((parameter) => parameter.title),
    ...parameters.flatMap((parameter) => parameter.choices ?? []),
  ];
  expect([...new Set(words)].filter((word) => !(word in catalogue))).toEqual([]);
});

test("in Chinese a kind is found by both its names, in English nothing changes", async () => {
  expect(localize(CATALOGUE)).toBe(CATALOGUE);
  setLanguage("zh");
  await fetchTexts("zh");
  const chinese = localize(CATALOGUE);
  expect(searchKinds(chinese, "过滤")[0]?.kind).toBe("filter");
  expect(searchKinds(chinese, "filter")[0]?.kind).toBe("filter");
});
