import { MantineProvider } from "@mantine/core";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import type { StatePlan } from "../api/types";
import { theme } from "../theme/theme";
import { ChangeDialog } from "./ChangeDialog";

vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);

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
};

async function shown(asked: StatePlan): Promise<() => Promise<void>> {
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  await act(async () =>
    root.render(
      <MantineProvider theme={theme} env="test">
        <ChangeDialog plan={asked} refused={null} answer={() => undefined} />
      </MantineProvider>,
    ),
  );
  return async () => {
    await act(async () => root.unmount());
    place.remove();
  };
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
  const said = () => document.querySelector("[data-testid=handover]")?.textContent;
  let close = await shown({ ...plan, handover: { warm: true, reason: null, message: null } });
  expect(said()).toContain("before version 1 stops");
  await close();
  close = await shown({ ...plan, handover: { warm: false, reason: "memory", message: "" } });
  expect(said()).toContain("There is not enough memory for two drivers at once.");
  await close();
  close = await shown(plan);
  expect(said()).toBeUndefined();
  await close();
});
