import { afterEach, expect, test } from "vitest";
import { CATALOGUE } from "../commands/kit";
import { searchKinds } from "../graph/search";
import { setLanguage } from "../ui/i18n";
import { CATALOGUE_ZH } from "./catalogueZh";
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
  expect([...new Set(words)].filter((word) => !(word in CATALOGUE_ZH))).toEqual([]);
});

test("in Chinese a kind is found by both its names, in English nothing changes", () => {
  expect(localize(CATALOGUE)).toBe(CATALOGUE);
  setLanguage("zh");
  const chinese = localize(CATALOGUE);
  expect(searchKinds(chinese, "过滤")[0]?.kind).toBe("filter");
  expect(searchKinds(chinese, "filter")[0]?.kind).toBe("filter");
});
