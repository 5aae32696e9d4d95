import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { afterEach, expect, test } from "vitest";
import type { Deployment, StateStore, TopologyDocument } from "../api/types";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { useLive } from "../live/store";
import { render } from "../testing/rendering";
import { useChosenStore } from "./chosen";
import { EVERYTHING, type StoreQuestion } from "./query";
import { StateFields } from "./StateFields";
import { StoreLinks } from "./StoreLinks";

const COUNTS: StateStore = {
  ...{ id: "counts", name: "Counts", kind: "key_value", key: "STRING" },
  ...{ values: ["BIGINT"], windows: null, rows: 3 },
};
const HOURS: StateStore = {
  ...{ ...COUNTS, id: "hours", name: "hours", kind: "window", key: "BIGINT" },
  windows: { type: "tumbling", size: 3_600_000 },
};

let close: (() => Promise<void>) | null = null;

async function show(part: ReactNode) {
  close = await render(part);
}

afterEach(async () => {
  await close?.();
  close = null;
});

function at(id: string): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>(`[data-testid="${id}"]`);
}

function type(id: string, text: string) {
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
  return act(async () => {
    set?.call(at(id), text);
    at(id)?.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

const buttons = () => [...document.querySelectorAll<HTMLElement>("[data-testid=look-into]")];

test("a store with windows is asked for a time, and its keys are JSON", async () => {
  const asked: StoreQuestion[] = [];
  await show(
    <StateFields store={HOURS} question={EVERYTHING} onAsk={(each) => asked.push(each)} />,
  );
  expect(at("state-key")?.placeholder).toBe("A key as JSON: BIGINT");
  expect(at("state-asOf")).toBeNull();
  await type("state-key", "17");
  await type("state-fromTime", "2026-01-31T12:00:30");
  await act(async () => at("state-find")?.click());
  expect(asked).toEqual([{ ...EVERYTHING, text: "17", fromTime: "2026-01-31T12:00:30" }]);
});

test("a versioned store is asked for a time as of which, other stores for none", async () => {
  const ignore = () => undefined;
  const versioned = { ...COUNTS, kind: "versioned" };
  await show(<StateFields store={versioned} question={EVERYTHING} onAsk={ignore} />);
  expect(at("state-asOf")).not.toBeNull();
  expect(at("state-fromTime")).toBeNull();
  await close?.();
  await show(<StateFields store={COUNTS} question={EVERYTHING} onAsk={ignore} />);
  expect(at("state-asOf")).toBeNull();
  expect(at("state-key")?.placeholder).toBe("A key");
});

test("an operator leads to its unnamed store and to that of its store node, others to none", async () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const deployment = { id: 7, observed: "running", run: null } as Deployment;
  useLive.setState({ deployment });
  client.setQueryData(["stores", 7, null, "running"], { stores: [COUNTS, HOURS], as_of: null });
  const document: TopologyDocument = {
    ...{ format: "millrace.topology/1", name: "Words" },
    nodes: [
      { id: "hours", kind: "count" },
      { id: "total", kind: "count" },
      { id: "counts", kind: "store.key_value" },
    ],
    edges: [
      { source: "counts", target: "total", target_port: "store" },
      { source: "hours", target: "total" },
    ],
  };
  useDesigner.setState({ document });
  const links = async (node: string) => {
    await close?.();
    await show(
      <QueryClientProvider client={client}>
        <StoreLinks node={node} />
      </QueryClientProvider>,
    );
    return buttons();
  };
  expect((await links("hours")).map((each) => each.textContent)).toEqual([
    "Show the rows of hours",
  ]);
  const [link, ...others] = await links("total");
  expect([link?.textContent, others]).toEqual(["Show the rows of Counts", []]);
  await act(async () => link?.click());
  expect(useChosenStore.getState().store).toBe("counts");
  expect(useView.getState().bottomTab).toBe("state");
  expect(await links("nothing")).toEqual([]);
});
