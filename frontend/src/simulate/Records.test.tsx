import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { emptyDocument, type TopologyDocument } from "../graph/document";
import { open } from "../testing/rendering";
import { OutputsView } from "./Records";
import type { Shown } from "./store";

afterEach(cleanup);

const DOCUMENT: TopologyDocument = {
  ...emptyDocument("t"),
  nodes: [
    { id: "orders", kind: "source.stream", params: {} },
    { id: "big", kind: "filter", params: {} },
    { id: "out", kind: "sink.topic", params: {} },
  ],
  edges: [
    { source: "orders", target: "big" },
    { source: "big", target: "out" },
  ],
};

function show(nodes: readonly string[]) {
  const part = { nodes, muted: {}, doubles: [] };
  const shown = { document: DOCUMENT, result: { outputs: [], steps: [], part } };
  open(<OutputsView shown={shown as unknown as Shown} />);
  return screen.getByText(/^(There|No) /).textContent;
}

test("a run up to a node says that no sink ran, not that records were dropped", () => {
  expect(show(["orders", "big"])).toContain("No sink is in the part that ran");
  cleanup();
  expect(show(["big", "out"])).toContain("where each one was dropped");
});
