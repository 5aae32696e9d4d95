import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { editor } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { emptyDocument, type TopologyDocument } from "../graph/document";
import { pinsOf } from "../graph/pins";
import { useLive } from "../live/store";
import { open } from "../testing/rendering";
import { aDeployment } from "../testing/samples";
import { PinDialog } from "./PinDialog";

const answers = vi.fn();
vi.mock("../api/deploymentCalls", () => ({ getEdgeRecords: async () => answers() }));

const DOCUMENT: TopologyDocument = {
  ...emptyDocument("pins"),
  nodes: [
    { id: "in", kind: "source.stream", params: { topics: ["orders"] } },
    { id: "out", kind: "sink.topic", params: { topic: "out" } },
  ],
  edges: [{ source: "in", target: "out" }],
};

afterEach(() => {
  cleanup();
  useLive.setState({ deployment: null });
});

function show() {
  const onClose = vi.fn();
  useDesigner.getState().select({ nodes: [], edges: ["in.out>out.in"] });
  open(<PinDialog onClose={onClose} />);
  return onClose;
}

test("records of the running deployment are pinned, and the pin is removed again", async () => {
  const { document: now, undo } = editor(DOCUMENT);
  useLive.setState({ deployment: aDeployment() });
  const place = { headers: {}, number: 1, offset: 0, partition: 0, seen: 0, topic: "orders" };
  answers.mockReturnValue({ records: [{ ...place, key: "a", value: 1, timestamp: 3 }] });
  const onClose = show();
  expect(screen.queryByRole("button", { name: "Remove the pinned records" })).toBeNull();
  expect(screen.getByRole("button", { name: /from the last simulation/ })).toHaveProperty(
    "disabled",
    true,
  );
  fireEvent.click(screen.getByRole("button", { name: "Take from the deployment" }));
  fireEvent.click(await screen.findByRole("button", { name: "Pin 1 record" }));
  expect(onClose).toHaveBeenCalled();
  expect(pinsOf(now())).toEqual([
    { source: "in", target: "out", records: [{ key: "a", value: 1, timestamp: 3 }] },
  ]);
  cleanup();
  show();
  fireEvent.click(screen.getByRole("button", { name: "Remove the pinned records" }));
  expect(pinsOf(now())).toEqual([]);
  await undo();
  expect(pinsOf(now())).toHaveLength(1);
});

test("a text that is not a record cannot be pinned, and a failed request is shown", async () => {
  editor(DOCUMENT);
  useLive.setState({ deployment: aDeployment() });
  answers.mockRejectedValue(new Error("The deployment does not respond."));
  show();
  const pin = screen.getByTestId("pin");
  expect(pin).toHaveProperty("disabled", false);
  fireEvent.change(screen.getByTestId("pinned-records"), { target: { value: "{" } });
  screen.getByText("Line 1 is not a JSON object.");
  expect(pin).toHaveProperty("disabled", true);
  fireEvent.change(screen.getByTestId("pinned-records"), {
    target: { value: "{}\n".repeat(201) },
  });
  screen.getByText("At most 200 records.");
  expect(pin).toHaveProperty("disabled", true);
  fireEvent.click(screen.getByRole("button", { name: "Take from the deployment" }));
  await waitFor(() => screen.getByText("The deployment does not respond."));
});
