import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Runtime } from "../api/types";
import { RuntimeFooter } from "../canvas/RuntimeFooter";
import { useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { viewOf } from "../live/view";
import { aDeployment, aDocument, aReport } from "../testing/samples";
import { NodeRuntime } from "./NodeRuntime";

vi.mock("../stores/StoreLinks", () => ({ StoreLinks: () => null }));

const DURATIONS = { avg: 20, min: 1, max: 90, count: 3, sum: 60, buckets: [] };

function show(latency: Runtime["nodes"][string]["latency"], stale = false): void {
  const report = aReport();
  const lines = { ...(report.nodes.lines as Runtime["nodes"][string]), latency };
  useRuntime.getState().setFigures(
    viewOf({
      deployment: aDeployment(),
      runtime: { ...report, nodes: { ...report.nodes, lines } },
      deployed: { document: aDocument(), subtopologies: { lines: [0] } },
      stale,
    }),
  );
  render(<NodeRuntime node="lines" />);
}

function shown(title: string): string | null {
  return screen.queryByText(title)?.nextElementSibling?.textContent ?? null;
}

beforeEach(() => useRuntime.setState({ figures: null, history: {} }));
afterEach(cleanup);

test("p50 and p99 of the latency stand at the node", () => {
  show({
    event: { ...DURATIONS, p50: 1_088, p99: 90_000 },
    arrival: { ...DURATIONS, p50: null, p99: null },
  });
  expect(shown("Latency from the record's time")).toBe("1.1 s · 2 min");
  expect(shown("Latency from its arrival")).toBe("–");
});

test("between sources and last nodes there is no latency", () => {
  show(null);
  expect(shown("Latency from its arrival")).toBeNull();
});

test("what an inner join did not find stands at its node with the reason", () => {
  const report = aReport();
  const lines = { ...(report.nodes.lines as Runtime["nodes"][string]), in: 8 };
  useRuntime.getState().setFigures(
    viewOf({
      deployment: aDeployment(),
      runtime: { ...report, nodes: { lines: { ...lines, misses: { no_match: 6 } } } },
      deployed: { document: aDocument(), subtopologies: { lines: [0] } },
      stale: false,
    }),
  );
  render(<NodeRuntime node="lines" />);
  expect(shown("Found nothing to join")).toBe("6 · 75 % of its records");
});

test("what a rule rejects stands at its node, and on the canvas", () => {
  const report = aReport();
  const lines = { ...(report.nodes.lines as Runtime["nodes"][string]), in: 8 };
  useRuntime.getState().setFigures(
    viewOf({
      deployment: aDeployment(),
      runtime: { ...report, nodes: { count: { ...lines, misses: { warned: 2 } } } },
      deployed: { document: aDocument(), subtopologies: { count: [1] } },
      stale: false,
    }),
  );
  render(<NodeRuntime node="count" />);
  expect(shown("Rejected by the rule with a warning")).toBe("2 · 25 % of its records");
  render(<RuntimeFooter node="count" source={false} />);
  expect(screen.getByText("2 rejected")).toBeTruthy();
});

test("an old latency is not known", () => {
  const found = { ...DURATIONS, p50: 5, p99: 9 };
  show({ event: found, arrival: found }, true);
  expect(shown("Latency from the record's time")).toBe("–");
});

test("where the lag is heading stands below it, unless the figures are old", () => {
  show(null);
  cleanup();
  const falling = Array.from({ length: 31 }, (_, second) => ({
    at: second * 1000,
    inRate: 0,
    outRate: 0,
    lag: 500 * second,
  }));
  useRuntime.setState({ history: { lines: falling } });
  render(<NodeRuntime node="lines" />);
  expect(shown("Lag grows by")).toBe("500 /s");
  cleanup();
  useRuntime.setState({
    history: { lines: falling.map((point) => ({ ...point, lag: 15_500 - point.lag })) },
  });
  render(<NodeRuntime node="lines" />);
  expect(shown("Caught up in about")).toBe("1 s");
});

test("a store has rows and no records that pass", () => {
  useDesigner.setState({
    document: { ...aDocument(), nodes: [{ id: "lines", kind: "store.key_value", params: {} }] },
  });
  show(null);
  expect(screen.queryByText("Records out")).toBeNull();
  expect(screen.queryByRole("img")).toBeNull();
  expect(shown("State")).toBe("–");
});
