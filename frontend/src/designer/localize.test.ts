import { afterEach, expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { searchKinds } from "../graph/search";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { catalog } from "../ui/zh/index";
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

test("the help of every kind and parameter is in Chinese, and cites nothing on the page", async () => {
  const help = (shown = localize(CATALOG)) => [
    ...shown.kinds.flatMap((kind) => [kind.help, ...kind.parameters.map((each) => each.help)]),
    ...shown.settings.map((setting) => setting.help),
  ];
  expect(help().filter((text) => /\[[A-Z]{2}/.test(text))).toEqual([]);
  expect(help().filter((text) => !(text in catalog))).toEqual([]);
  setLanguage("zh");
  await fetchTexts("zh");
  expect(help().filter((text) => !/[\u4e00-\u9fff]/.test(text))).toEqual([]);
});

test("in Chinese a kind is found by both its names", async () => {
  setLanguage("zh");
  await fetchTexts("zh");
  const chinese = localize(CATALOG);
  expect(searchKinds(chinese, "过滤")[0]?.kind).toBe("filter");
  expect(searchKinds(chinese, "filter")[0]?.kind).toBe("filter");
});
