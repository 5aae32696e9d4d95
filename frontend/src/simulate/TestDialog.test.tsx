import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useDesigner } from "../designer/store";
import { open } from "../testing/rendering";
import type { Shown } from "./store";
import { KeepDialog } from "./TestDialog";

const kept = vi.fn();
const fault = {
  code: "expression_column_other",
  severity: "error",
  message: "No column.",
  hint: "",
};
vi.mock("../api/compileCalls", () => ({
  listTests: async () => ({ results: [] }),
  createTest: async (...given: unknown[]) => kept(...given),
  compileDocument: async (...given: unknown[]) => ({
    conditions: (given[5] as { predicate: string }[]).map(({ predicate }) => ({
      columns: { key: "STRING", value: "BIGINT" },
      diagnostics: predicate === "" ? [] : [{ ...fault, path: "conditions[0].predicate" }],
    })),
  }),
}));

const DOCUMENT = {
  ...{ format: "millrace.topology/1", name: "test", edges: [] },
  nodes: [{ id: "out", kind: "sink.topic", params: { topic: "out" } }],
};
const RESULT = {
  ...{ outputs: [{ topic: "out", key: "k", value: 1, timestamp: 0, after: 1 }], output_count: 1 },
  ...{ dropped: 2, stores: {}, error: null, steps: [] },
};

afterEach(cleanup);

test("what a test expects is chosen, and a condition without an expression is not kept", async () => {
  useDesigner.setState({ document: DOCUMENT as never });
  const shown = { document: DOCUMENT, lines: [], seconds: 1, result: RESULT } as unknown as Shown;
  open(<KeepDialog topology={7} ws="main" shown={shown} onClose={() => undefined} />);
  const keep = screen.getByRole("button", { name: "Keep" });
  expect(keep).toHaveProperty("disabled", true);
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: "One" } });
  expect(keep).toHaveProperty("disabled", false);
  fireEvent.click(screen.getByLabelText("1 record of the topic out"));
  fireEvent.click(screen.getByLabelText("2 dropped records"));
  screen.getByText("The test expects nothing yet.");
  fireEvent.click(screen.getByRole("button", { name: "Add a condition" }));
  expect(screen.queryByText("The test expects nothing yet.")).toBeNull();
  await waitFor(() => screen.getByTestId("conditions").querySelector(".cm-editor"));
  expect(keep).toHaveProperty("disabled", true);
  fireEvent.click(screen.getByRole("button", { name: "Remove the condition" }));
  fireEvent.click(screen.getByLabelText("2 dropped records"));
  fireEvent.click(keep);
  await waitFor(() => expect(kept).toHaveBeenCalled());
  expect(kept.mock.calls[0]).toEqual([7, { name: "One", inputs: [], expected: { dropped: 2 } }]);
});
