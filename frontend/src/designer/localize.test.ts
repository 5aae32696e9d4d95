// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { searchKinds } from "../graph/search";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { choiceTitle, localize, planText } from "./localize";

afterEach(() => setLanguage("en"));

/** All texts of the catalog that the page shows, in its language. */
function texts(shown = localize(CATALOG)): string[] {
  const parameters = [...shown.kinds.flatMap((kind) => kind.parameters), ...shown.settings];
  return [
    ...shown.families.map((family) => family.title),
    ...shown.kinds.flatMap((kind) => [kind.title, kind.description, kind.help]),
    ...shown.formats.map((format) => format.description),
    ...parameters.flatMap((each) => [
      each.title,
      each.help,
      ...(each.choices ?? []).map(choiceTitle),
    ]),
  ];
}

test("every text of the catalog is in Chinese, and cites nothing on the page", async () => {
  expect(texts().filter((text) => /\[[A-Z]{2}/.test(text))).toEqual([]);
  setLanguage("zh");
  await fetchTexts("zh");
  const english = texts().filter((text) => !/[\u4e00-\u9fff]/.test(text));
  expect([...new Set(english)]).toEqual(["Kafka Streams"]);
});

test("the guarantee and the reason of a node are in Chinese, also those that its family shares", async () => {
  setLanguage("zh");
  await fetchTexts("zh");
  const long = "A text of more than sixty characters, in place of the compiler's [AG1].";
  expect(planText(CATALOG, "count", "why", long)).toContain("groupBy().count()");
  expect(planText(CATALOG, "map", "why", long)).toBe(planText(CATALOG, "filter", "why", long));
  expect(planText(CATALOG, "merge", "why", long)).toContain("union");
  expect(planText(CATALOG, "count", "why", "Short [AG1].")).toBe("Short.");
  expect(planText(null, "count", "why", long)).toBe(long.replace(" [AG1]", ""));
});

test("in Chinese a kind is found by both its names", async () => {
  setLanguage("zh");
  await fetchTexts("zh");
  const chinese = localize(CATALOG);
  expect(searchKinds(chinese, "过滤")[0]?.kind).toBe("filter");
  expect(searchKinds(chinese, "filter")[0]?.kind).toBe("filter");
});
