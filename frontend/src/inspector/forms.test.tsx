import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Runtime } from "../api/types";
import { CATALOG, type Editor, editor } from "../commands/kit";
import { useRuntime } from "../designer/runtime";
import type { DesignerServices } from "../designer/services";
import { ServicesContext } from "../designer/servicesContext";
import { useDesigner } from "../designer/store";
import { setParam, setSetting } from "../graph/changes";
import { edgeId, emptyDocument, findNode, makeEdge, paramsOf } from "../graph/document";
import { placeOf } from "../graph/parameters";
import { viewOf } from "../live/view";
import { Palette } from "../palette/Palette";
import { NodeRuntime } from "../runtime/NodeRuntime";
import { aDeployment, aDocument, aReport, aTask } from "../testing/samples";
import { theme } from "../theme/theme";
import { t } from "../ui/i18n";
import { Inspector } from "./Inspector";

/** A cluster with one topic and a compiler without problems. */
class QuietServices implements DesignerServices {
  async compile(_document: unknown, revision: number) {
    return { revision, diagnostics: [], ports: {}, plan: null, summary: {}, code: null };
  }

  topicAddress(topic: string) {
    return `/topics/${topic}`;
  }

  topologyAddress(id: number) {
    return `/t/${id}`;
  }

  async fragments() {
    return [];
  }

  async fragment() {
    return emptyDocument("");
  }

  async saveFragment() {
    return 2;
  }

  async createFragment() {
    return 1;
  }

  async topics() {
    return [{ name: "orders", partitions: 3 }];
  }

  async schemas(topic: string) {
    return topic === "orders" ? [{ topology: "Shop", schema: "item STRING" }] : [];
  }

  async latest() {
    return [];
  }

  async tryExpression() {
    return [];
  }

  async topicFacts() {
    return { partitions: 3, records: 0, latest: null };
  }

  async samples(topic: string) {
    return [`{"topic": "${topic}", "n": 1}`, '{"n": 2.5}'];
  }
}

const services = new QuietServices();
let place: HTMLElement;
let root: Root;
let edit: Editor;
let complaints: unknown[];

function show(part: React.ReactNode) {
  return act(async () => {
    root.render(
      <MantineProvider theme={theme} env="test">
        <MemoryRouter>
          <QueryClientProvider client={new QueryClient()}>
            <ServicesContext.Provider value={services}>{part}</ServicesContext.Provider>
          </QueryClientProvider>
        </MemoryRouter>
      </MantineProvider>,
    );
    // The form of a node is a chunk of its own.
    await import("./NodeForm");
    await new Promise((resolve) => setTimeout(resolve));
  });
}

function type(input: HTMLInputElement, text: string) {
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
  return act(async () => {
    set?.call(input, text);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

function field(parameter: string): HTMLElement {
  const found = place.querySelector<HTMLElement>(`[data-parameter="${parameter}"]`);
  if (found === null) throw new Error(`There is no field ${parameter}`);
  return found;
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("matchMedia", () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
  // happy-dom has no fonts that could finish loading.
  Object.defineProperty(document, "fonts", { value: new EventTarget(), configurable: true });
  complaints = [];
  vi.spyOn(console, "error").mockImplementation((...words) => complaints.push(words));
  vi.spyOn(console, "warn").mockImplementation((...words) => complaints.push(words));
  sessionStorage.clear();
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
  edit = editor();
});

afterEach(async () => {
  await act(async () => root.unmount());
  place.remove();
  vi.unstubAllGlobals();
});

test.each(CATALOG.kinds.map((kind) => kind.kind))(
  "the form of %s shows every parameter that applies, without a problem",
  async (kind) => {
    const id = edit.drop(kind);
    await show(<Inspector nodeRuntime={undefined} />);
    const entry = CATALOG.kinds.find((each) => each.kind === kind);
    for (const parameter of entry?.parameters ?? []) {
      if (parameter.depends_on != null) continue;
      const shown = place.querySelector(
        `.inspector-parameters [data-parameter="${parameter.name}"]`,
      );
      expect(shown?.textContent, parameter.name).toContain(parameter.title);
    }
    expect(place.querySelector(".inspector-name code")?.textContent).toBe(id);
    expect(complaints).toEqual([]);
  },
);

test("help is no stop of Tab and opens by F1 in its field", async () => {
  edit.drop("suppress");
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

test("a request for a field focuses it in a form that was not shown before", async () => {
  const id = edit.drop("suppress");
  const loaded = (name: string) =>
    vi.waitFor(() => expect(document.activeElement?.closest(".field")).toBe(field(name)));
  await show(<Inspector nodeRuntime={undefined} />);
  await act(async () => useDesigner.getState().goTo(null, "processing_handler"));
  await loaded("processing_handler");
  await act(async () => useDesigner.getState().goTo(id, "max_records"));
  await loaded("max_records");
});

test("what is typed is kept even if it is wrong, and one field is one undo entry", async () => {
  const id = edit.drop("suppress");
  await show(<Inspector nodeRuntime={undefined} />);
  const input = field("max_records").querySelector("input");
  if (input === null) throw new Error("max_records has no input");
  await type(input, "1");
  await type(input, "12x");
  const params = () => paramsOf(findNode(edit.document(), id) ?? { id, kind: "" });
  expect(params().max_records).toBe("12x");
  await type(input, "120");
  expect(params().max_records).toBe(120);
  await edit.undo();
  expect(params().max_records).toBeUndefined();
});

test("a duration is taken as it is typed and kept in the document's words", async () => {
  const id = edit.drop("suppress");
  const params = () => paramsOf(findNode(edit.document(), id) ?? { id, kind: "" });
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
  const id = edit.drop("count");
  const set = (window: Record<string, string>) =>
    act(async () =>
      useDesigner
        .getState()
        .change(t("Window"), (now) =>
          setParam(now, CATALOG, id, "window", { type: "tumbling", ...window }),
        ),
    );
  const fields = () =>
    [...place.querySelectorAll("[data-parameter^='window.']")].map((each) =>
      each.getAttribute("data-parameter"),
    );
  await set({ size: "1 hour" });
  await show(<Inspector nodeRuntime={undefined} />);
  expect(fields()).toEqual(["window.size", "window.unit", "window.offset", "window.grace"]);
  await set({ unit: "day" });
  expect(fields()).toEqual(["window.unit", "window.time_zone", "window.offset", "window.grace"]);
  const clear = field("window.unit").querySelector<HTMLButtonElement>("button:not(.field-help)");
  await act(async () => clear?.click());
  expect(paramsOf(findNode(edit.document(), id) ?? { id, kind: "" }).window).toEqual({
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
  const id = edit.drop("reduce");
  await show(<Inspector nodeRuntime={undefined} />);
  const names = () =>
    [...place.querySelectorAll("[data-parameter]")].map((each) =>
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
  const id = edit.drop("filter");
  await act(async () =>
    edit.answer({
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
  const id = edit.drop("count");
  useDesigner
    .getState()
    .change(t("Change {title}", { title: "" }), (now) =>
      setParam(now, CATALOG, id, "window", { type: "hopping", size: "x", unit: "day" }),
    );
  const parts = ["window.size", "window.unit", "window.type"];
  await act(async () =>
    edit.answer({
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
  const id = edit.drop("filter");
  await show(<Inspector nodeRuntime={undefined} />);
  const input = field("label").querySelector("input");
  if (input === null) throw new Error("no label");
  await type(input, "Only big ones");
  expect(edit.label(id)).toBe("Only big ones");
  expect(findNode(edit.document(), id)?.id).toBe(id);
});

test("settings of the topology are shown when nothing is selected", async () => {
  await show(<Inspector nodeRuntime={undefined} />);
  for (const setting of CATALOG.settings) {
    if (setting.depends_on == null) expect(place.textContent).toContain(setting.title);
  }
  expect(complaints).toEqual([]);
});

test("settings with Python source: a handler's function, and modules that have names", async () => {
  const settings = () => useDesigner.getState().document.settings;
  const choose = async (name: string) => {
    const found = [...place.querySelectorAll("button, label")].find(
      (each) => (each.getAttribute("aria-label") ?? each.textContent) === name,
    );
    await act(async () => (found as HTMLElement).click());
    await act(() => import("./widgets/ofSettings").then(() => undefined));
  };
  await show(<Inspector nodeRuntime={undefined} />);
  expect(place.querySelector('[data-parameter="processing_function"]')).toBeNull();
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
  const id = edit.drop("filter");
  useDesigner.setState({ readOnly: true });
  useDesigner.getState().select({ nodes: [id] });
  await show(<Inspector nodeRuntime={undefined} />);
  const inputs = [...place.querySelectorAll<HTMLInputElement>("input, textarea")];
  expect(
    inputs.filter((input) => !input.readOnly && !input.disabled && input.type !== "hidden"),
  ).toEqual([]);
  useDesigner.setState({ readOnly: false });
});

test("the palette lists every kind once, and a click adds it", async () => {
  await show(<Palette />);
  const entries = [...place.querySelectorAll<HTMLElement>("[data-kind]")];
  expect(entries.map((entry) => entry.dataset.kind).toSorted()).toEqual(
    CATALOG.kinds.map((kind) => kind.kind).toSorted(),
  );
  const filter = entries.find((entry) => entry.dataset.kind === "filter");
  await act(async () => filter?.click());
  expect(edit.document().nodes.map((node) => node.kind)).toEqual(["filter"]);
  expect(complaints).toEqual([]);
});

test("a rule is a filter in the edge of a stream that counts what it rejects", async () => {
  const source = edit.drop("source.stream");
  const sink = edit.drop("sink.topic");
  const edge = makeEdge(source, "out", sink, "in");
  const { change, select } = useDesigner.getState();
  change(t("Edge"), (now) => ({ ...now, edges: [edge] }));
  const rule = () => place.querySelector<HTMLElement>('[data-testid="add-rule"]');
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
  const made = edit.document().nodes.find((node) => node.kind === "filter");
  if (made === undefined) throw new Error("There is no rule");
  expect(paramsOf(made)).toEqual({ rejected: "count" });
  expect(edit.document().edges.map((each) => [each.source, each.target])).toEqual([
    [source, made.id],
    [made.id, sink],
  ]);
  expect(useDesigner.getState().selection.nodes).toEqual([made.id]);
});

test("each node of a fragment shows its own tasks and figures when it is chosen", async () => {
  const nodes = [{ id: "clean", kind: "fragment", params: { fragment: "clean@1" } }];
  const fragments = { "clean@1": { nodes: [], edges: [] } };
  edit = editor({ ...emptyDocument("Uses a fragment"), nodes, fragments });
  edit.select("clean");
  const inner = [
    { id: "clean--keep", local: "keep", kind: "filter" },
    { id: "clean--count", local: "count", kind: "count" },
    { id: "clean--rows", local: "rows", kind: "store.key_value" },
  ];
  edit.answer({ fragments: { clean: { nodes: inner, edges: [] } } });
  const report = aReport();
  const figures = { ...(report.nodes.lines as Runtime["nodes"][string]), in: 8 };
  const tasks = [0, 1].map((n) => aTask({ task: `${n}_0`, subtopology: n }));
  useRuntime.getState().setFigures(
    viewOf({
      deployment: aDeployment(),
      runtime: {
        ...report,
        tasks,
        nodes: { "clean--keep": figures, "clean--count": figures },
        stores: [{ name: "rows", node: "clean--rows", rows: 17, bytes: 2048 }],
      },
      deployed: {
        document: aDocument(),
        subtopologies: { "clean--keep": [0], "clean--count": [1] },
      },
      stale: false,
    }),
  );
  await show(<Inspector nodeRuntime={NodeRuntime} />);
  const details = () => [...place.querySelectorAll('[data-testid="inner-details"]')];
  const choose = (id: string) =>
    act(async () => place.querySelector<HTMLElement>(`[data-inner="${id}"] button`)?.click());
  expect(details()).toHaveLength(0);
  for (const [id, kind, own, other] of [
    ["clean--keep", "Filter", "0_0", "1_0"],
    ["clean--count", "Count", "1_0", "0_0"],
  ] as const) {
    await choose(id);
    const [shown, ...more] = details();
    expect(more).toEqual([]);
    for (const text of [kind, "Records in", own]) expect(shown?.textContent).toContain(text);
    expect(shown?.textContent).not.toContain(other);
  }
  // No records pass through a store.
  await choose("clean--rows");
  expect(details()[0]?.textContent).toContain("17 rows");
  expect(details()[0]?.textContent).not.toContain("Records out");
  await choose("clean--rows");
  expect(details()).toHaveLength(0);
  useRuntime.getState().setFigures(null);
});

test("a source leads to the records of each of its topics", async () => {
  const id = edit.drop("source.stream");
  useDesigner
    .getState()
    .change(t("Topics"), (now) => setParam(now, CATALOG, id, "topics", ["orders", "returns"]));
  await show(<Inspector nodeRuntime={undefined} />);
  const links = [...place.querySelectorAll(".link-row")].map((each) => each.getAttribute("href"));
  expect(links).toEqual(["/topics/orders", "/topics/returns"]);
});

test("the schema of a source comes from records of its topic, or from another topology", async () => {
  const id = edit.drop("source.stream", { at: { x: 0, y: 0 } });
  useDesigner.getState().change(t("Change {title}", { title: "topics" }), (document) => {
    const place = placeOf("source");
    const named = setParam(document, CATALOG, id, "topics", [place]);
    const parameters = { source: { type: "topic", default: "orders" } } as const;
    return setParam({ ...named, parameters }, CATALOG, id, "value", { format: "json" });
  });
  edit.select(id);
  await show(<Inspector nodeRuntime={undefined} />);
  const click = (element: Element | null | undefined) =>
    act(async () => {
      (element as HTMLElement).click();
      await import("./SchemaDialog");
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
  const schema = () => {
    const node = findNode(edit.document(), id);
    return node === undefined ? undefined : paramsOf(node).value;
  };
  await click(place.querySelector('[data-parameter="value"] [data-testid="schema-from-records"]'));
  const named = [...document.querySelectorAll("button")];
  await click(named.find((each) => each.textContent?.includes("orders")));
  expect(document.querySelector('[data-testid="schema-found"]')?.textContent).toBe(
    "topic STRING, n DOUBLE",
  );
  await click(document.querySelector('[data-testid="use-schema"]'));
  expect(schema()).toEqual({ format: "json", schema: "topic STRING, n DOUBLE" });

  await click(place.querySelector('[data-parameter="value"] [data-testid="schema-from-records"]'));
  const known = document.querySelector('[data-testid="known-schema"]');
  expect(known?.textContent).toBe("As in Shopitem STRING");
  await click(known);
  expect(schema()).toEqual({ format: "json", schema: "item STRING" });
});

/** Waits until a part that is loaded on demand is there. */
async function loaded(selector: string): Promise<HTMLElement> {
  for (let times = 0; times < 200; times += 1) {
    const found = place.querySelector<HTMLElement>(selector);
    if (found !== null) return found;
    await act(async () => new Promise((resolve) => setTimeout(resolve, 20)));
  }
  throw new Error(`There is no ${selector}`);
}

const press = (name: string, within: Element = place) =>
  act(async () => {
    const all = [...within.querySelectorAll<HTMLButtonElement>("button")];
    const found = all.find(
      (each) => each.textContent === name || each.getAttribute("aria-label") === name,
    );
    if (found === undefined) throw new Error(`There is no button ${name}`);
    found.click();
  });

test("a struct is built as rows: named, moved, removed and added, and is text again", async () => {
  const id = edit.drop("map_values");
  const text = "named_struct('item', value.item, 'at', struct(value.x AS x))";
  useDesigner.setState((state) => ({
    document: setParam(state.document, CATALOG, id, "value", text),
  }));
  await show(<Inspector nodeRuntime={undefined} />);
  const written = () => {
    const node = findNode(edit.document(), id);
    return node === undefined ? undefined : paramsOf(node).value;
  };
  await loaded(".schema-ask");
  await press("As fields", field("value"));
  const rows = await loaded(".struct-rows");
  // The rows of a nested struct are in its row.
  expect(rows.querySelectorAll(".list-row .list-row")).toHaveLength(1);
  const names = () => [...place.querySelectorAll<HTMLInputElement>(".struct-name input")];
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
  expect(place.querySelector(".struct-rows")).toBeNull();
});

test("a schema is built as rows", async () => {
  const id = edit.drop("source.stream");
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
  const node = findNode(edit.document(), id);
  expect(node && paramsOf(node).value).toEqual({
    format: "json",
    schema: "at STRUCT<x: INT, field_2: STRING>",
  });
});

test("a fragment that was changed here is saved as the next version, or given up", async () => {
  const definition = (predicate: string) => ({
    nodes: [
      { id: "in", kind: "fragment.input", params: {} },
      { id: "keep", kind: "filter", params: { predicate } },
      { id: "out", kind: "fragment.output", params: {} },
    ],
    edges: [
      { source: "in", target: "keep" },
      { source: "keep", target: "out" },
    ],
  });
  const here = {
    ...emptyDocument("here"),
    nodes: ["one", "two"].map((id) => ({
      id,
      kind: "fragment",
      params: { fragment: "Clean@1" },
    })),
    fragments: { "Clean@1": definition("value > 2") },
  };
  const open = () => {
    edit = editor(here as never);
    edit.select("one");
    return show(<Inspector nodeRuntime={undefined} />);
  };
  const theirs = { ...emptyDocument("Clean"), ...definition("value > 1") };
  const fragments = vi
    .spyOn(services, "fragments")
    .mockResolvedValue([{ id: 7, name: "Clean", latest_version: 1 }] as never);
  vi.spyOn(services, "fragment").mockResolvedValue(theirs as never);
  const save = vi.spyOn(services, "saveFragment");
  await open();
  const note = await loaded('[data-testid="fragment-changed"]');
  expect(note.textContent).toContain("it is not version 1 of the workspace any more");
  expect(note.textContent).toContain("changed keep");
  await press("Save as version 2");
  expect(save.mock.calls[0]?.slice(0, 2)).toEqual([7, 1]);
  const used = () => edit.document().nodes.map((node) => paramsOf(node).fragment);
  expect(used()).toEqual(["Clean@2", "Clean@2"]);
  expect(Object.keys(edit.document().fragments ?? {})).toEqual(["Clean@2"]);

  await open();
  await loaded('[data-testid="fragment-changed"]');
  await press("Use version 1 of the workspace");
  expect(used()).toEqual(["Clean@1", "Clean@1"]);
  expect(JSON.stringify(edit.document().fragments)).toContain("value > 1");
  expect(place.querySelector('[data-testid="fragment-changed"]')).toBeNull();
  fragments.mockRestore();
});
