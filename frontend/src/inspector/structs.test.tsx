import { act } from "react";
import { expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { setParam } from "../graph/changes";
import { findNode, paramsOf } from "../graph/document";
import { placeOf } from "../graph/parameters";
import { type } from "../testing/rendering";
import { t } from "../ui/i18n";
import { Inspector } from "./Inspector";
import { field, form, loaded, press, show, showForms } from "./kit";

showForms();

test("the schema of a source comes from records of its topic, or from another topology", async () => {
  const id = form.edit.drop("source.stream", { at: { x: 0, y: 0 } });
  useDesigner.getState().change(t("Change {title}", { title: "topics" }), (document) => {
    const place = placeOf("source");
    const named = setParam(document, CATALOG, id, "topics", [place]);
    const parameters = { source: { type: "topic", default: "orders" } } as const;
    return setParam({ ...named, parameters }, CATALOG, id, "value", { format: "json" });
  });
  form.edit.select(id);
  await show(<Inspector nodeRuntime={undefined} />);
  const click = (element: Element | null | undefined) =>
    act(async () => {
      (element as HTMLElement).click();
      await import("./SchemaDialog");
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
  const schema = () => {
    const node = findNode(form.edit.document(), id);
    return node === undefined ? undefined : paramsOf(node).value;
  };
  await click(
    form.place.querySelector('[data-parameter="value"] [data-testid="schema-from-records"]'),
  );
  const named = [...document.querySelectorAll("button")];
  await click(named.find((each) => each.textContent?.includes("orders")));
  expect(document.querySelector('[data-testid="schema-found"]')?.textContent).toBe(
    "topic STRING, n DOUBLE",
  );
  await click(document.querySelector('[data-testid="use-schema"]'));
  expect(schema()).toEqual({ format: "json", schema: "topic STRING, n DOUBLE" });

  await click(
    form.place.querySelector('[data-parameter="value"] [data-testid="schema-from-records"]'),
  );
  const known = document.querySelector('[data-testid="known-schema"]');
  expect(known?.textContent).toBe("As in Shopitem STRING");
  await click(known);
  expect(schema()).toEqual({ format: "json", schema: "item STRING" });
});

test("a struct is built as rows: named, moved, removed and added, and is text again", async () => {
  const id = form.edit.drop("map_values");
  const text = "named_struct('item', value.item, 'at', struct(value.x AS x))";
  useDesigner.setState((state) => ({
    document: setParam(state.document, CATALOG, id, "value", text),
  }));
  await show(<Inspector nodeRuntime={undefined} />);
  const written = () => {
    const node = findNode(form.edit.document(), id);
    return node === undefined ? undefined : paramsOf(node).value;
  };
  await loaded(".schema-ask");
  await press("As fields", field("value"));
  const rows = await loaded(".struct-rows");
  // The rows of a nested struct are in its row.
  expect(rows.querySelectorAll(".list-row .list-row")).toHaveLength(1);
  const names = () => [...form.place.querySelectorAll<HTMLInputElement>(".struct-name input")];
  expect(names().map((each) => each.value)).toEqual(["item", "at", "x"]);
  const [name] = names();
  if (name === undefined) throw new Error("There is no field");
  await type(name, "thing");
  await act(async () => name.dispatchEvent(new FocusEvent("focusout", { bubbles: true })));
  expect(written()).toBe("named_struct('thing', value.item, 'at', struct(value.x AS x))");
  await press("Move down", rows);
  expect(written()).toBe("named_struct('at', struct(value.x AS x), 'thing', value.item)");
  await press("Remove", rows);
  expect(written()).toBe("named_struct('thing', value.item)");
  await press("Add a field", rows);
  expect(written()).toBe("named_struct('thing', value.item, 'field_2', NULL)");
  await press("As text", field("value"));
  expect(form.place.querySelector(".struct-rows")).toBeNull();
});

test("a schema is built as rows", async () => {
  const id = form.edit.drop("source.stream");
  useDesigner.setState((state) => ({
    document: setParam(state.document, CATALOG, id, "value", {
      format: "json",
      schema: "item STRING, at STRUCT<x: INT>",
    }),
  }));
  await show(<Inspector nodeRuntime={undefined} />);
  await press("As fields", field("value"));
  const rows = await loaded(".struct-rows");
  await press("Add a field", rows.querySelector(".struct-rows") ?? rows);
  await press("Remove", rows);
  const node = findNode(form.edit.document(), id);
  expect(node && paramsOf(node).value).toEqual({
    format: "json",
    schema: "at STRUCT<x: INT, field_2: STRING>",
  });
});
