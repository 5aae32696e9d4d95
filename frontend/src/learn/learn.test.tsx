import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { MemoryRouter, useLocation } from "react-router";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { offerTour, openLearn, showStep, useGuides } from "../commands/guides";
import { editor } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { theme } from "../theme/theme";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { LearnDialog } from "./LearnDialog";
import { LESSONS } from "./lessons";
import { placeOf, placeOfCard, Tour } from "./Tour";
import { STEPS } from "./tourSteps";

const DOCUMENTS = join(import.meta.dirname, "../../../backend/catalog/documents");
const TEMPLATES = readdirSync(DOCUMENTS).map((file) => ({
  id: file.replace(".json", ""),
  ...JSON.parse(readFileSync(join(DOCUMENTS, file), "utf8")),
}));

const created = vi.hoisted(() => ({ body: null as unknown }));

vi.mock("../api/topologyCalls", () => ({
  listTemplates: async () => TEMPLATES,
  getCatalog: async () => (await import("../commands/kit")).CATALOG,
  listTopologies: async () => ({ next: null, results: [{ name: "Word count" }] }),
  createTopology: async (_ws: string, made: unknown) => {
    created.body = made;
    return { id: 7 };
  },
}));

function Address() {
  return <output>{useLocation().pathname}</output>;
}

function show(view: React.ReactNode) {
  render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={new QueryClient()}>
        <MemoryRouter>
          {view}
          <Address />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

beforeEach(() => {
  localStorage.clear();
  useGuides.setState({ step: null, learning: false });
});

afterEach(() => {
  cleanup();
  setLanguage("en");
});

test("Learn has every template once, ten of them, each with two things to try", () => {
  expect(LESSONS).toHaveLength(10);
  expect(LESSONS.map(({ template }) => template).sort()).toEqual(
    TEMPLATES.map(({ id }) => id).sort(),
  );
  expect(LESSONS.every(({ tries }) => tries.length === 2)).toBe(true);
});

test("a lesson becomes a topology with a free name and opens in Simulate", async () => {
  openLearn(true);
  show(<LearnDialog ws="main" editor />);
  const button = await screen.findByRole("button", { name: "Try it in Simulate: Word count" });
  await act(async () => fireEvent.click(button));
  expect(created.body).toMatchObject({ name: "Word count 2", template: "word-count" });
  expect(screen.getByRole("status").textContent).toBe("/w/main/t/7");
  expect(useView.getState()).toMatchObject({ bottomOpen: true, bottomTab: "simulate" });
  expect(useGuides.getState().learning).toBe(false);
});

test("without the editor role a lesson can be read but not opened", async () => {
  setLanguage("zh");
  await fetchTexts("zh");
  show(<LearnDialog ws="main" editor={false} />);
  const button = await screen.findByRole("button", { name: "在模拟中试试：按类型分流" });
  expect((button as HTMLButtonElement).disabled).toBe(true);
  expect(screen.getByTestId("lessons").textContent).toContain("没有类型的走默认分支");
});

test("the tour has six steps, opens what it shows, and is offered once", async () => {
  const drawn = editor();
  drawn.drop("source.stream", { at: { x: 0, y: 0 } });
  drawn.drop("filter", { at: { x: 150, y: 0 } });
  const count = drawn.drop("count", { at: { x: 300, y: 0 } });
  act(offerTour);
  show(<Tour />);
  const next = () => act(async () => fireEvent.click(screen.getByText("Next step")));
  expect(STEPS).toHaveLength(6);
  expect(screen.getByTestId("tour").textContent).toContain("Step 1 of 6");
  expect(document.activeElement?.textContent).toBe("Next step");
  await next();
  expect(useDesigner.getState().layer).toBe("runtime");
  await next();
  expect(useDesigner.getState().selection.nodes).toEqual([count]);
  await next();
  expect(useView.getState().bottomTab).toBe("state");
  await next();
  expect(useView.getState().bottomTab).toBe("simulate");
  await act(async () => fireEvent.click(screen.getByText("Previous step")));
  expect(useView.getState().bottomTab).toBe("state");
  await act(async () => fireEvent.keyDown(document.body, { key: "Escape" }));
  expect(screen.queryByTestId("tour")).toBeNull();
  act(offerTour);
  expect(screen.queryByTestId("tour")).toBeNull();
  await act(async () => void (await drawn.run("tour")));
  await act(async () => showStep(5));
  await act(async () => fireEvent.click(screen.getByText("Done")));
  expect(screen.queryByTestId("tour")).toBeNull();
});

test("the card is beside its target, and always on the screen", () => {
  const card = { width: 340, height: 160 };
  const { innerHeight, innerWidth } = window;
  const targets = [
    null,
    { left: 0, top: 44, width: 248, height: 600 },
    { left: innerWidth - 300, top: 44, width: 300, height: innerHeight - 44 },
    { left: 0, top: innerHeight - 260, width: innerWidth, height: 260 },
    { left: 0, top: 0, width: innerWidth, height: innerHeight },
  ];
  for (const target of targets) {
    const { left, top } = placeOf(target, card);
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left + card.width).toBeLessThanOrEqual(innerWidth);
    expect(top).toBeGreaterThanOrEqual(0);
    expect(top + card.height).toBeLessThanOrEqual(innerHeight);
  }
  expect(placeOf(targets[1] ?? null, card).left).toBe(260);
});

test("the card of the tour covers neither the panel that it is about nor a node", () => {
  const card = { width: 440, height: 160 };
  const panel = { left: 0, top: innerHeight - 260, width: innerWidth, height: 260 };
  const nodes = [0, 1, 2].map((index) => ({
    left: innerWidth - 240 * (index + 1),
    top: innerHeight - 380,
    width: 216,
    height: 56,
  }));
  const at = placeOfCard(panel, nodes, card);
  const apart = (box: typeof panel) =>
    at.left + at.width <= box.left ||
    box.left + box.width <= at.left ||
    at.top + at.height <= box.top ||
    box.top + box.height <= at.top;
  expect([panel, ...nodes].map(apart)).toEqual([true, true, true, true]);
  expect(placeOfCard(panel, [], card)).toEqual(placeOf(panel, card));
});
