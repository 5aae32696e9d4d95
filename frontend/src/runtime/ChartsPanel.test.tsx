import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Figures } from "../api/types";
import { useDesigner } from "../designer/store";
import { useLive } from "../live/store";
import { open } from "../testing/rendering";
import { aDeployment } from "../testing/samples";
import { ChartsPanel } from "./ChartsPanel";
import { endsOf, GROUPS, inksOf, LINES, times, written } from "./charts";

// Charts draw on a canvas element, which happy-dom does not have.
vi.mock("./Chart", () => ({ Chart: () => <div data-testid="lines" /> }));

const FOUND: Figures = {
  figure: "node_in",
  of: "node",
  unit: "per_second",
  range: "15m",
  begin: 1_000,
  step: 10,
  points: 3,
  series: [
    { name: "in", values: [null, 20, 10] },
    { name: "gone", values: [1, 2, null] },
  ],
  left_out: 4,
  names: ["in", "gone"],
};

let questions: URL[];
let answer: { status: number; content: unknown };

beforeEach(() => {
  questions = [];
  answer = { status: 200, content: FOUND };
  vi.stubGlobal("fetch", async (request: Request) => {
    questions.push(new URL(request.url));
    return Response.json(answer.content, { status: answer.status });
  });
  useLive.setState({ deployment: aDeployment({ id: 7 }), connection: "open" });
  useDesigner.setState({
    document: {
      format: "millrace.topology/1",
      name: "test",
      nodes: [{ id: "in", kind: "source.stream", label: "Orders" }],
      edges: [],
    },
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = () => open(<ChartsPanel />);

test("series are listed by the labels of their nodes with the last and the highest value", async () => {
  show();
  const legend = within(await screen.findByTestId("chart-legend"));
  const rows = legend.getAllByRole("row").slice(1);
  expect(rows.map((row) => row.textContent)).toEqual(["Orders10 /s20 /s", "gone2 /s2 /s"]);
  expect(screen.getByText(/4 more with lower values/)).toBeTruthy();
  expect(Object.fromEntries(questions[0]?.searchParams ?? [])).toEqual({
    figure: "node_in",
    range: "15m",
  });
});

test("another range and another figure are asked for", async () => {
  show();
  fireEvent.click(await screen.findByRole("radio", { name: "24 h" }));
  await waitFor(() => expect(questions.at(-1)?.searchParams.get("range")).toBe("24h"));
  fireEvent.click(screen.getByLabelText("Figure", { selector: "input" }));
  fireEvent.click(await screen.findByRole("option", { name: "Lag in time" }));
  await waitFor(() => expect(questions.at(-1)?.searchParams.get("figure")).toBe("lag_time"));
});

test("one name is asked for", async () => {
  show();
  await screen.findByTestId("chart-legend");
  fireEvent.click(screen.getByLabelText("Shown", { selector: "input" }));
  fireEvent.click(await screen.findByRole("option", { name: "Orders" }));
  await waitFor(() => expect(questions.at(-1)?.searchParams.getAll("name")).toEqual(["in"]));
});

test("no figures, a failure and a topology that was never deployed have their own texts", async () => {
  answer = { status: 200, content: { ...FOUND, series: [], names: [] } };
  show();
  expect(await screen.findByText("No figures in this period")).toBeTruthy();
  cleanup();
  answer = {
    status: 404,
    content: { error: { code: "not_found", message: "There is no deployment 7.", hint: "" } },
  };
  show();
  expect(await screen.findByText(/There is no deployment 7/)).toBeTruthy();
  cleanup();
  useLive.setState({ deployment: null, topology: null });
  show();
  // The server has not reported yet whether there is a deployment.
  expect(await screen.findByText("Loading…")).toBeTruthy();
  act(() => useLive.setState({ topology: { id: 1 } as never }));
  expect(await screen.findAllByText("Never deployed")).toBeTruthy();
});

test("every figure has a title, every line a color, every value a unit", () => {
  const names = GROUPS.flatMap(([, figures]) => figures.map(([name]) => name));
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(LINES).size).toBe(12);
  expect(times(FOUND)).toEqual([1_000, 1_010, 1_020]);
  expect(endsOf([null, null])).toEqual({ last: null, highest: null });
  expect(
    ["per_second", "records", "rows", "bytes", "ms", "percent"].map((unit) =>
      written(unit as Figures["unit"], 1500),
    ),
  ).toEqual(["1.5 k/s", "1.5 k", "1.5 k", "1.5 kB", "1.5 s", "1.5 k %"]);
  expect(written("ms", null)).toBe("–");
});

test("lines of nodes have the color of their family, and dashes tell those of one family apart", () => {
  const hues: Record<string, string> = { lines: "source", words: "stateless", long: "stateless" };
  const inks = inksOf(["lines", "words", "long", "0_0"], (name) => hues[name] ?? null);
  expect(inks.map((ink) => ink.token)).toEqual([
    "--m-hue-source",
    "--m-hue-stateless",
    "--m-hue-stateless",
    "--m-area-3",
  ]);
  expect(inks.map((ink) => ink.dash.length > 0)).toEqual([false, false, true, false]);
});
