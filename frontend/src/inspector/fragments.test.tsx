import { act } from "react";
import { expect, test, vi } from "vitest";
import type { Runtime } from "../api/types";
import { editor } from "../commands/kit";
import { useRuntime } from "../designer/runtime";
import { emptyDocument, paramsOf } from "../graph/document";
import { viewOf } from "../live/view";
import { NodeRuntime } from "../runtime/NodeRuntime";
import { aDeployment, aDocument, aReport, aTask } from "../testing/samples";
import { Inspector } from "./Inspector";
import { form, loaded, press, services, show, showForms } from "./kit";

showForms();

test("each node of a fragment shows its own tasks and figures when it is chosen", async () => {
  const nodes = [{ id: "clean", kind: "fragment", params: { fragment: "clean@1" } }];
  const fragments = { "clean@1": { nodes: [], edges: [] } };
  form.edit = editor({ ...emptyDocument("Uses a fragment"), nodes, fragments });
  form.edit.select("clean");
  const inner = [
    { id: "clean--keep", local: "keep", kind: "filter" },
    { id: "clean--count", local: "count", kind: "count" },
    { id: "clean--rows", local: "rows", kind: "store.key_value" },
  ];
  form.edit.answer({ fragments: { clean: { nodes: inner, edges: [] } } });
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
  const details = () => [...form.place.querySelectorAll('[data-testid="inner-details"]')];
  const choose = (id: string) =>
    act(async () => form.place.querySelector<HTMLElement>(`[data-inner="${id}"] button`)?.click());
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
    form.edit = editor(here as never);
    form.edit.select("one");
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
  const used = () => form.edit.document().nodes.map((node) => paramsOf(node).fragment);
  expect(used()).toEqual(["Clean@2", "Clean@2"]);
  expect(Object.keys(form.edit.document().fragments ?? {})).toEqual(["Clean@2"]);

  await open();
  await loaded('[data-testid="fragment-changed"]');
  await press("Use version 1 of the workspace");
  expect(used()).toEqual(["Clean@1", "Clean@1"]);
  expect(JSON.stringify(form.edit.document().fragments)).toContain("value > 1");
  expect(form.place.querySelector('[data-testid="fragment-changed"]')).toBeNull();
  fragments.mockRestore();
});
