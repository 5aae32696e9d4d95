import { act } from "react";
import { expect, test } from "vitest";
import type { StatePlan } from "../api/types";
import { useView } from "../designer/view";
import { render } from "../testing/rendering";
import { useEditing } from "../versions/editing";
import { ChangeDialog } from "./ChangeDialog";

const types = { kind: "key_value", key: "STRING", values: ["INT"], windows: null, tasks: 2 };
const plan: StatePlan = {
  before: 1,
  version: 2,
  stores: [
    {
      id: "sum",
      name: "Sums",
      kind: "key_value",
      verdict: "migrated",
      reasons: ["tasks_changed"],
      convertible: false,
      rows: 1214003,
      bytes: 4_500_000,
      old: types,
      new: { ...types, tasks: 4 },
    },
  ],
  sources: [
    {
      topic: "orders",
      verdict: "continues",
      partitions: [
        { partition: 0, offset: 1200, lag: 34, stopped: 1200 },
        { partition: 1, offset: 7, lag: null, stopped: 7 },
      ],
    },
  ],
  accepted: true,
  as_of: "2026-01-01T00:00:00Z",
  reset: false,
  warnings: [],
  handover: null,
  parameters: [],
  environments: { old: null, new: null },
  approval: null,
  tests: null,
};

const answers: unknown[][] = [];

async function shown(asked: StatePlan): Promise<() => Promise<void>> {
  answers.length = 0;
  return render(
    <ChangeDialog
      plan={asked}
      promotion={null}
      refused={null}
      answer={(...given) => answers.push(given)}
    />,
  );
}

const cells = () => [...document.querySelectorAll("td")].map((cell) => cell.textContent);

test("the plan shows how large stores are, and where each partition continues", async () => {
  const close = await shown(plan);
  expect(document.querySelector("[data-testid=change-store]")?.textContent).toContain(
    "1,214,003 rows · 4.5 MB",
  );
  expect(cells()).toEqual(["orders", "0", "1,200", "34", "orders", "1", "7", "?"]);
  await close();
});

test("what is not known before the first report is left out", async () => {
  const [store] = plan.stores.map((each) => ({ ...each, rows: null, bytes: null }));
  const sources = plan.sources.map((each) => ({ ...each, partitions: [] }));
  const close = await shown({ ...plan, stores: store === undefined ? [] : [store], sources });
  expect(document.body.textContent).not.toContain("rows");
  expect(document.querySelector("[data-testid=change-places]")).toBeNull();
  await close();
});

test("the plan says whether the new driver is prepared beside the old one", async () => {
  const handover = () => document.querySelector("[data-testid=handover]")?.textContent;
  let close = await shown({ ...plan, handover: { warm: true, reason: null, message: null } });
  expect(handover()).toContain("before version 1 stops");
  await close();
  close = await shown({ ...plan, handover: { warm: false, reason: "memory", message: "" } });
  expect(handover()).toContain("There is not enough memory for two drivers at once.");
  await close();
  close = await shown(plan);
  expect(handover()).toBeUndefined();
  await close();
});

const [kept] = plan.stores;
if (kept === undefined) throw new Error("the plan has a store");
const only = (over: Partial<StatePlan["stores"][number]>): StatePlan => ({
  ...plan,
  accepted: false,
  stores: [{ ...kept, reasons: [], ...over }],
});
const accept = () => document.querySelector<HTMLButtonElement>("[data-testid=change-accept]");
const click = (element: HTMLElement | null | undefined) => act(async () => element?.click());
const field = (label: string) => {
  const found = [...document.querySelectorAll("label")].find((each) => each.textContent === label);
  return document.getElementById(found?.htmlFor ?? "") as HTMLInputElement | null;
};
const type = (label: string, text: string) =>
  act(async () => {
    const input = field(label);
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
    set?.call(input, text);
    input?.dispatchEvent(new Event("input", { bubbles: true }));
  });

test("the plan names who must approve, and is accepted once somebody has", async () => {
  const needed = { required: true, approved_by: [], possible_by: ["Ada", "Grace"] };
  const note = () => document.querySelector("[data-testid=approval-needed]")?.textContent ?? null;
  let close = await shown({ ...plan, approval: needed });
  expect(note()).toContain("Ada, Grace.");
  expect(accept()?.disabled).toBe(true);
  await close();
  close = await shown({ ...plan, approval: { ...needed, possible_by: [] } });
  expect(note()).toContain("nobody else here is an operator");
  await close();
  close = await shown({ ...plan, approval: { ...needed, approved_by: ["Ada"] } });
  expect(document.body.textContent).toContain("Approved by Ada.");
  expect(accept()?.disabled).toBe(false);
  await close();
  close = await shown({ ...plan, approval: { ...needed, required: false } });
  expect([note(), accept()?.disabled]).toEqual([null, false]);
  await close();
});

test("the plan names tests that must pass, and those that passed only with doubles", async () => {
  const tests = { required: true, passed: 1, missing: ["Late"], doubled: [], doubles: ["score"] };
  const text = (id: string) =>
    document.querySelector(`[data-testid=tests-${id}]`)?.textContent ?? null;
  let close = await shown({ ...plan, tests });
  expect(text("needed")).toContain("Late");
  expect(text("needed")).toContain("restore version 2 first");
  expect(accept()?.disabled).toBe(true);
  await click(document.querySelector<HTMLElement>("[data-testid=open-tests]"));
  expect(answers).toEqual([[null]]);
  expect(useView.getState()).toMatchObject({ bottomTab: "simulate", bottomOpen: true });
  await close();
  close = await shown({ ...plan, tests: { ...tests, missing: [], doubled: ["Scores"] } });
  expect(text("passed")).toBe(
    "1 test has passed. With doubles for score, and not without: Scores.",
  );
  expect(accept()?.disabled).toBe(false);
  await close();
  close = await shown({ ...plan, tests: { ...tests, required: false } });
  expect([text("needed"), text("passed"), accept()?.disabled]).toEqual([null, null, false]);
  await close();
});

test("what differs of a store is shown as it was and as it is", async () => {
  const hour = { type: "tumbling", size: 3_600_000 };
  const close = await shown(
    only({
      verdict: "incompatible",
      old: { ...types, windows: hour },
      new: { ...types, key: "BIGINT", windows: { ...hour, size: 7_200_000 }, tasks: 4 },
    }),
  );
  const codes = [...document.querySelectorAll("code")].map((each) => each.textContent);
  expect(codes).toEqual([
    "STRING → BIGINT",
    "tumbling size 1 h → tumbling size 2 h",
    "2 tasks → 4 tasks",
  ]);
  await close();
});

test("a store that is lost is dropped only after its name was typed", async () => {
  const close = await shown(only({ verdict: "lost", new: null }));
  expect(document.body.textContent).toContain("This version has no such store.");
  expect(accept()?.disabled).toBe(true);
  await type("Type its name to drop it", "sums");
  expect(accept()?.disabled).toBe(true);
  await type("Type its name to drop it", "Sums");
  expect(document.body.textContent).toContain("They will be lost.");
  await click(accept());
  expect(answers).toEqual([[{ sum: "drop" }, undefined]]);
  await close();
});

test("values are converted by an expression instead, and no name is asked for", async () => {
  const close = await shown(only({ verdict: "incompatible", convertible: true }));
  expect(field("Type its name to reset it")).not.toBeNull();
  await type("Convert its values with a SQL expression over old", "CAST(old AS BIGINT)");
  expect(field("Type its name to reset it")).toBeNull();
  await click(accept());
  expect(answers).toEqual([[{ sum: { convert: "CAST(old AS BIGINT)" } }, undefined]]);
  await close();
});

test("a reset of all stores is accepted with the topology's name, and says what it means", async () => {
  useEditing.setState({ name: "Word count" });
  const warnings: StatePlan["warnings"] = [{ code: "begins_empty", message: "" }];
  const close = await shown({ ...plan, reset: true, warnings });
  expect(document.body.textContent).toContain("All stores start empty");
  await type("Type the name of the topology to reset its stores", "Word");
  expect(accept()?.disabled).toBe(true);
  await type("Type the name of the topology to reset its stores", "Word count");
  await click(accept());
  expect(answers).toEqual([[{}, "Word count"]]);
  await close();
});

test("topics that are new or no longer read are named; cancel leaves what runs as it is", async () => {
  const sources: StatePlan["sources"] = [
    { topic: "more", verdict: "new", partitions: [] },
    { topic: "less", verdict: "gone", partitions: [] },
  ];
  const close = await shown({ ...plan, sources });
  const rows = [...document.querySelectorAll("[data-testid=change-source]")];
  expect(rows.map((each) => each.textContent)).toEqual([
    "moreThis topic is now read.",
    "lessThis topic is no longer read.",
  ]);
  const buttons = [...document.querySelectorAll("button")];
  await click(buttons.find((each) => each.textContent === "Cancel"));
  expect(answers).toEqual([[null]]);
  await close();
});

test("the plan shows the values of parameters that another environment changes", async () => {
  const close = await shown({
    ...plan,
    environments: { old: null, new: "prod" },
    parameters: [
      { name: "orders", old: "orders", new: "orders-2", by_default: false },
      { name: "low", old: null, new: 3, by_default: true },
    ],
  });
  const table = document.querySelector("[data-testid=change-values]");
  expect([...(table?.querySelectorAll("th") ?? [])].map((each) => each.textContent)).toEqual([
    "Parameter",
    "Defaults",
    "prod",
  ]);
  expect([...(table?.querySelectorAll("td") ?? [])].map((each) => each.textContent)).toEqual([
    "orders",
    "orders",
    "orders-2",
    "low",
    "–",
    "3 default: prod has no value",
  ]);
  await close();
});
