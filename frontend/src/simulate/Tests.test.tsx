import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useDesigner } from "../designer/store";
import { open } from "../testing/rendering";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { TestsView } from "./Tests";
import { useTests } from "./tests";

const answers: (() => unknown)[] = [];
const refusals: Error[] = [];
vi.mock("../api/compileCalls", () => ({
  listTests: async () => {
    const refusal = refusals.shift();
    if (refusal !== undefined) throw refusal;
    return { results: [{ id: 1, name: "Counts", inputs: [], expected: { dropped: 0 } }] };
  },
  simulate: async () => answers.shift()?.(),
  prepareSimulator: async () => ({ state: "ready", progress: null }),
}));

const DIFFERENCE = {
  code: "record_unexpected",
  facts: { topic: "out", place: "2", found: '{"key": "a"}' },
  message: 'out[2]: expected nothing, got {"key": "a"}',
};
const RESULT = {
  ...{ edges: [], nodes: {}, steps: [], stores: {}, outputs: [], output_count: 0, dropped: 0 },
  differences: [DIFFERENCE],
};

function show() {
  open(<TestsView topology={7} ws="main" />);
}

beforeEach(() => {
  const document = { format: "millrace.topology/1", name: "test", nodes: [], edges: [] };
  useDesigner.setState({ document: document as never });
  useTests.setState({ verdicts: {}, coverage: null });
});
afterEach(() => {
  cleanup();
  setLanguage("en");
});

test("what differs from a test is in the language of the page, whichever it ran in", async () => {
  answers.push(() => ({ state: "done", diagnostics: [], result: RESULT, plain: null }));
  show();
  fireEvent.click(await screen.findByText("Run all tests"));
  await screen.findByText(DIFFERENCE.message);
  cleanup();
  await fetchTexts("zh");
  setLanguage("zh");
  show();
  await screen.findByText('out[2]：预期没有记录，得到 {"key": "a"}');
});

test("a failed test is a diff, and only what it does not show is told in sentences", async () => {
  const condition = { ...DIFFERENCE, code: "condition_no_record", message: "out: no such record" };
  const drops = { code: "dropped", facts: {}, message: "dropped: expected 0, got 3" };
  const result = { ...RESULT, dropped: 3, differences: [condition, drops] };
  answers.push(() => ({ state: "done", diagnostics: [], result, plain: null }));
  show();
  fireEvent.click(await screen.findByText("Run all tests"));
  await screen.findByText("out: no such record");
  expect(screen.getByTestId("test-diff").textContent).toContain("Dropped records: 0 3");
  expect(screen.queryByText(drops.message)).toBeNull();
});

test("a test that cannot run has failed, and shows why", async () => {
  answers.push(() => {
    throw new Error("The simulator does not respond.");
  });
  show();
  fireEvent.click(await screen.findByText("Run all tests"));
  await screen.findByText("The simulator does not respond.");
  expect(useTests.getState().verdicts[1]).toMatchObject({ state: "failed", differences: [] });
});

test("tests that could not be loaded are loaded again by a button", async () => {
  refusals.push(new Error("The server could not process this request."));
  show();
  await screen.findByText("The server could not process this request.");
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByText("Counts");
});
