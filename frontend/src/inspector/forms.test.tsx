import { act } from "react";
import { expect, test, vi } from "vitest";
import { CATALOG } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { setParam, setSetting } from "../graph/changes";
import { edgeId, findNode, makeEdge, paramsOf } from "../graph/document";
import { groupsOf } from "../graph/drawing";
import { Palette } from "../palette/Palette";
import { type } from "../testing/rendering";
import { t } from "../ui/i18n";
import { Inspector } from "./Inspector";
import { field, form, loaded, show, showForms } from "./kit";

showForms();

test.each(CATALOG.kinds.map((kind) => kind.kind))(
  "the form of %s shows every parameter that applies, without a problem",
  async (kind) => {
    const id = form.edit.drop(kind);
    await show(<Inspector nodeRuntime={undefined} />);
    const entry = CATALOG.kinds.find((each) => each.kind === kind);
    for (const parameter of entry?.parameters ?? []) {
      if (parameter.depends_on != null) continue;
      const shown = form.place.querySelector(
        `.inspector-parameters [data-parameter="${parameter.name}"]`,
      );
      expect(shown?.textContent, parameter.name).toContain(parameter.title);
    }
    expect(form.place.querySelector(".inspector-name code")?.textContent).toBe(id);
    expect(form.complaints).toEqual([]);
  },
);

test("help is no stop of Tab and opens by F1 in its field", async () => {
  form.edit.drop("suppress");
  await show(<Inspector nodeRuntime={undefined} />);
  const until = field("until");
  expect(until.querySelector<HTMLButtonElement>(".field-help")?.tabIndex).toBe(-1);
  const described = document.getElementById(until.getAttribute("aria-describedby") ?? "");
  expect(described?.textContent).toBe("When to emit.");
  const press = (key: string) =>
    act(async () => {
      const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
      until.querySelector("input")?.dispatchEvent(event);
    });
  const shown = () => document.querySelector("[role=tooltip]")?.textContent ?? null;
  expect(shown()).toBeNull();
  await press("F1");
  expect(shown()).toBe("When to emit.");
  await press("Escape");
  expect(shown()).toBeNull();
});

test("a group gets its title and its color in its form", async () => {
  const nodes = [form.edit.drop("filter"), form.edit.drop("peek")];
  form.edit.select(...nodes);
  await form.edit.run("group");
  await show(<Inspector nodeRuntime={undefined} />);
  const title = (await loaded("[data-testid=group-title]")) as HTMLInputElement;
  await type(title, "Clean up");
  await act(async () =>
    form.place.querySelector<HTMLElement>('input[aria-label="Violet"]')?.click(),
  );
  expect(groupsOf(form.edit.document())).toMatchObject([
    { title: "Clean up", color: "aggregation", nodes },
  ]);
});

test("a request for a field focuses it in a form that was not shown before", async () => {
  const id = form.edit.drop("suppress");
  const focused = (name: string) =>
    vi.waitFor(() => expect(document.activeElement?.closest(".field")).toBe(field(name)));
  await show(<Inspector nodeRuntime={undefined} />);
  await act(async () => useDesigner.getState().goTo(null, "processing_handler"));
  await focused("processing_handler");
  await act(async () => useDesigner.getState().goTo(id, "max_records"));
  await focused("max_records");
});

test("what is typed is kept even if it is wrong, and one field is one undo entry", async () => {
  const id = form.edit.drop("suppress");
  await show(<Inspector nodeRuntime={undefined} />);
  const input = field("max_records").querySelector("input");
  if (input === null) throw new Error("max_records has no input");
  await type(input, "1");
  await type(input, "12x");
  const params = () => paramsOf(findNode(form.edit.document(), id) ?? { id, kind: "" });
  expect(params().max_records).toBe("12x");
  await type(input, "120");
  expect(params().max_records).toBe(120);
  await form.edit.undo();
  expect(params().max_records).toBeUndefined();
});

test("a duration is taken as it is typed and kept in the document's words", async () => {
  const id = form.edit.drop("suppress");
  const params = () => paramsOf(findNode(form.edit.document(), id) ?? { id, kind: "" });
  await act(async () => {
    useDesigner
      .getState()
      .change(t("Limit"), (now) => setParam(now, CATALOG, id, "until", "time_limit"));
  });
  await show(<Inspector nodeRuntime={undefined} />);
  const input = field("limit").querySelector<HTMLInputElement>("input:not([type=hidden])");
  if (input === null) throw new Error("limit has no input");
  await type(input, "1h");
  expect([input.value, params().limit]).toEqual(["1h", "1 hour"]);
  await type(input, "10 min");
  expect(params().limit).toBe("10 minutes");
  await act(async () => {
    input.focus();
    input.blur();
  });
  expect(input.value).toBe("10 minutes");
  await type(input, "soon");
  expect(params().limit).toBe("soon");
});

test("a window has a size, or a calendar unit with a time zone instead", async () => {
  const id = form.edit.drop("count");
  const set = (window: Record<string, string>) =>
    act(async () =>
      useDesigner
        .getState()
        .change(t("Window"), (now) =>
          setParam(now, CATALOG, id, "window", { type: "tumbling", ...window }),
        ),
    );
  const fields = () =>
    [...form.place.querySelectorAll("[data-parameter^='window.']")].map((each) =>
      each.getAttribute("data-parameter"),
    );
  await set({ size: "1 hour" });
  await show(<Inspector nodeRuntime={undefined} />);
  expect(fields()).toEqual(["window.size", "window.unit", "window.offset", "window.grace"]);
  await set({ unit: "day" });
  expect(fields()).toEqual(["window.unit", "window.time_zone", "window.offset", "window.grace"]);
  const clear = field("window.unit").querySelector<HTMLButtonElement>("button:not(.field-help)");
  await act(async () => clear?.click());
  expect(paramsOf(findNode(form.edit.document(), id) ?? { id, kind: "" }).window).toEqual({
    type: "tumbling",
    size: "1 day",
  });
  await set({ type: "custom", size: "1 hour", code: "def hours(t): ..." });
  expect(fields()).toEqual(["window.code", "window.size", "window.grace"]);
  await vi.waitFor(() =>
    expect(field("window.code").querySelector("pre, .cm-content")?.textContent).toContain("hours"),
  );
});

test("functions that expressions call are shown with their types where there are some", async () => {
  const id = form.edit.drop("reduce");
  await show(<Inspector nodeRuntime={undefined} />);
  const names = () =>
    [...form.place.querySelectorAll("[data-parameter]")].map((each) =>
      each.getAttribute("data-parameter"),
    );
  expect(names()).not.toContain("functions");
  await act(async () =>
    useDesigner.getState().change(t("Functions"), (now) => {
      const called = setParam(now, CATALOG, id, "reducer", "longest(agg, value)");
      const code = "def longest(a, b): ...";
      const written = setParam(called, CATALOG, id, "functions", code);
      return setParam(written, CATALOG, id, "returns", { longest: "STRING" });
    }),
  );
  expect(names().slice(-2)[0]).toBe("functions");
  expect(names().some((name) => name?.startsWith("returns"))).toBe(true);
  await vi.waitFor(() =>
    expect(field("functions").querySelector("pre, .cm-content")?.textContent).toContain("longest"),
  );
});

test("an error stands below the field it is about, with its hint", async () => {
  const id = form.edit.drop("filter");
  await act(async () =>
    form.edit.answer({
      diagnostics: [
        {
          code: "expression",
          severity: "error",
          node: id,
          parameter: "predicate",
          path: "predicate",
          facts: {},
          message: "There is no column amuont.",
          hint: "Did you mean amount?",
          position: { start: 0, stop: 6 },
          blocks: "compile",
        },
      ],
    }),
  );
  await show(<Inspector nodeRuntime={undefined} />);
  expect(field("predicate").textContent).toContain(
    "There is no column amuont. Did you mean amount?",
  );
});

test("a problem of a part stands below its field, or below the parameter if it has none", async () => {
  const id = form.edit.drop("count");
  useDesigner
    .getState()
    .change(t("Change {title}", { title: "" }), (now) =>
      setParam(now, CATALOG, id, "window", { type: "hopping", size: "x", unit: "day" }),
    );
  const parts = ["window.size", "window.unit", "window.type"];
  await act(async () =>
    form.edit.answer({
      diagnostics: parts.map((path) => ({
        code: "of_a_part",
        severity: "error",
        node: id,
        parameter: "window",
        path,
        facts: {},
        message: `Wrong: ${path}.`,
        hint: "",
        position: null,
        blocks: "compile",
      })),
    }),
  );
  await show(<Inspector nodeRuntime={undefined} />);
  const below = (name: string) =>
    [...field(name).querySelectorAll(":scope > .ui-held .field-problem")].map((each) =>
      each.textContent?.trim(),
    );
  expect(below("window.size")).toEqual(["Wrong: window.size."]);
  expect(below("window")).toEqual(["Wrong: window.unit.", "Wrong: window.type."]);
  expect(field("window").querySelectorAll(".field-problem")).toHaveLength(3);
});

test("a rename changes the label and nothing else", async () => {
  const id = form.edit.drop("filter");
  await show(<Inspector nodeRuntime={undefined} />);
  const input = field("label").querySelector("input");
  if (input === null) throw new Error("no label");
  await type(input, "Only big ones");
  expect(form.edit.label(id)).toBe("Only big ones");
  expect(findNode(form.edit.document(), id)?.id).toBe(id);
});

test("settings of the topology are shown when nothing is selected", async () => {
  await show(<Inspector nodeRuntime={undefined} />);
  for (const setting of CATALOG.settings) {
    if (setting.depends_on == null) expect(form.place.textContent).toContain(setting.title);
  }
  expect(form.complaints).toEqual([]);
});

test("settings with Python source: a handler's function, and modules that have names", async () => {
  const settings = () => useDesigner.getState().document.settings;
  const choose = async (name: string) => {
    const found = [...form.place.querySelectorAll("button, label")].find(
      (each) => (each.getAttribute("aria-label") ?? each.textContent) === name,
    );
    await act(async () => (found as HTMLElement).click());
    await act(() => import("./widgets/ofSettings").then(() => undefined));
  };
  await show(<Inspector nodeRuntime={undefined} />);
  expect(form.place.querySelector('[data-parameter="processing_function"]')).toBeNull();
  await act(async () =>
    useDesigner
      .getState()
      .change(t("Add a module"), (now) => setSetting(now, "processing_handler", "function"), {
        gesture: "",
      }),
  );
  await choose("Add a module");
  field("processing_function");
  expect(settings()?.modules).toEqual({ module: "" });
  await choose("Add a module");
  const [first] = field("modules").querySelectorAll("input");
  if (first === undefined) throw new Error("no name");
  await type(first, "shop.prices");
  await act(async () => first.dispatchEvent(new Event("focusout", { bubbles: true })));
  expect(settings()?.modules).toEqual({ "shop.prices": "", module_2: "" });
  await choose("Remove");
  expect(settings()?.modules).toEqual({ module_2: "" });
  await choose("Remove");
  expect(settings()?.modules).toBeUndefined();
});

test("a topology that may only be looked at has no field to type into", async () => {
  const id = form.edit.drop("filter");
  useDesigner.setState({ readOnly: true });
  useDesigner.getState().select({ nodes: [id] });
  await show(<Inspector nodeRuntime={undefined} />);
  const inputs = [...form.place.querySelectorAll<HTMLInputElement>("input, textarea")];
  expect(
    inputs.filter((input) => !input.readOnly && !input.disabled && input.type !== "hidden"),
  ).toEqual([]);
  useDesigner.setState({ readOnly: false });
});

test("the palette lists every kind once, and a click adds it", async () => {
  await show(<Palette />);
  const entries = [...form.place.querySelectorAll<HTMLElement>("[data-kind]")];
  expect(entries.map((entry) => entry.dataset.kind).toSorted()).toEqual(
    CATALOG.kinds.map((kind) => kind.kind).toSorted(),
  );
  const filter = entries.find((entry) => entry.dataset.kind === "filter");
  await act(async () => filter?.click());
  expect(form.edit.document().nodes.map((node) => node.kind)).toEqual(["filter"]);
  expect(form.complaints).toEqual([]);
});

test("a rule is a filter in the edge of a stream that counts what it rejects", async () => {
  const source = form.edit.drop("source.stream");
  const sink = form.edit.drop("sink.topic");
  const edge = makeEdge(source, "out", sink, "in");
  const { change, select } = useDesigner.getState();
  change(t("Edge"), (now) => ({ ...now, edges: [edge] }));
  const rule = () => form.place.querySelector<HTMLElement>('[data-testid="add-rule"]');
  for (const role of ["table", "stream"]) {
    const port = { role, key: "STRING", value: "STRING", key_changed: false };
    await act(async () => {
      useDesigner.setState({ result: { ports: { [source]: { out: port } } } as never });
      select({ nodes: [], edges: [edgeId(edge)] });
    });
    await show(<Inspector nodeRuntime={undefined} />);
    expect(rule() !== null).toBe(role === "stream");
  }
  await act(async () => rule()?.click());
  const made = form.edit.document().nodes.find((node) => node.kind === "filter");
  if (made === undefined) throw new Error("There is no rule");
  expect(paramsOf(made)).toEqual({ rejected: "count" });
  expect(form.edit.document().edges.map((each) => [each.source, each.target])).toEqual([
    [source, made.id],
    [made.id, sink],
  ]);
  expect(useDesigner.getState().selection.nodes).toEqual([made.id]);
  // The cursor goes into what a rule needs first.
  expect(useDesigner.getState().focusRequest).toMatchObject({
    node: made.id,
    parameter: "predicate",
  });
});

test("a source leads to the records of each of its topics", async () => {
  const id = form.edit.drop("source.stream");
  useDesigner
    .getState()
    .change(t("Topics"), (now) => setParam(now, CATALOG, id, "topics", ["orders", "returns"]));
  await show(<Inspector nodeRuntime={undefined} />);
  const links = [...form.place.querySelectorAll(".link-row")].map((each) =>
    each.getAttribute("href"),
  );
  expect(links).toEqual(["/topics/orders", "/topics/returns"]);
});
