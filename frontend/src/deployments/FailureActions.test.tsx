import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Failure } from "../api/types";
import { useDesigner } from "../designer/store";
import { useLive } from "../live/store";
import { open } from "../testing/rendering";
import { aDeployment } from "../testing/samples";
import { FailureActions } from "./FailureActions";
import { handlerOf } from "./handlers";

let role = "operator";
vi.mock("../frame/session", async (original) => ({
  ...(await original<typeof import("../frame/session")>()),
  useWorkspace: () => ({ role }),
}));
const decided = vi.fn();
vi.mock("../api/deploymentCalls", async (original) => ({
  ...(await original<typeof import("../api/deploymentCalls")>()),
  decideRecord: async (...call: unknown[]) => {
    decided(...call);
    return aDeployment();
  },
}));

const FAILURE: Failure = {
  code: "processing",
  node: "divide",
  parameter: "value",
  message: "Division by zero.",
  record: { topic: "orders", partition: 2, offset: 17, key: "a", timestamp: 5 },
};

function show(over: Partial<Failure> = {}, settings: Record<string, string> = {}): void {
  useDesigner.setState({
    topologyId: 1,
    document: {
      format: "millrace.topology/1",
      name: "t",
      nodes: [{ id: "divide", kind: "map_values" }],
      edges: [],
      settings,
    } as never,
  });
  useLive.setState({ deployment: aDeployment() });
  open(<FailureActions failure={{ ...FAILURE, ...over }} />);
}

beforeEach(() => {
  role = "operator";
  decided.mockClear();
});
afterEach(cleanup);

test("a record is skipped by the second click", async () => {
  show();
  fireEvent.click(screen.getByTestId("failure-skip"));
  expect(decided).not.toHaveBeenCalled();
  fireEvent.click(screen.getByTestId("failure-skip-now"));
  await waitFor(() => expect(decided).toHaveBeenCalledTimes(1));
  expect(decided.mock.calls[0]?.[1]).toEqual({
    decision: "skip",
    topic: "orders",
    partition: 2,
    offset: 17,
  });
});

test("it goes to the dead letters where the topology names a topic for them", async () => {
  show();
  expect(screen.queryByTestId("failure-dead_letter")).toBeNull();
  cleanup();
  show({ code: "production" }, { dead_letter_topic: "dead" });
  expect(screen.queryByTestId("failure-dead_letter")).toBeNull();
  cleanup();
  show({}, { dead_letter_topic: "dead" });
  fireEvent.click(screen.getByTestId("failure-dead_letter"));
  fireEvent.click(screen.getByTestId("failure-dead_letter-now"));
  await waitFor(() => expect(decided).toHaveBeenCalledTimes(1));
  expect(decided.mock.calls[0]?.[1]).toMatchObject({ decision: "dead_letter" });
});

test("it is not sent again by a handler that has sent it before the stop", () => {
  const settings = { dead_letter_topic: "dead", processing_handler: "dead_letter_then_fail" };
  show({}, settings);
  expect(screen.queryByTestId("failure-dead_letter")).toBeNull();
  expect(screen.getByTestId("failure-skip")).toBeTruthy();
  cleanup();
  show({ code: "deserialization" }, settings);
  expect(screen.getByTestId("failure-dead_letter")).toBeTruthy();
  cleanup();
  show({}, { ...settings, processing_guarantee: "exactly_once" });
  expect(screen.getByTestId("failure-dead_letter")).toBeTruthy();
});

test("only operators decide, and only editors make tests", () => {
  role = "viewer";
  show({}, { dead_letter_topic: "dead" });
  for (const id of ["failure-skip", "failure-dead_letter", "failure-test"]) {
    expect(screen.queryByTestId(id)).toBeNull();
  }
  expect(screen.getByTestId("failure-simulate")).toBeTruthy();
});

test("the handler is a setting of the topology or a field of the node", () => {
  show();
  fireEvent.click(screen.getByTestId("failure-handler"));
  expect(useDesigner.getState().focusRequest).toMatchObject({
    node: null,
    parameter: "processing_handler",
  });
  expect(handlerOf({ ...FAILURE, code: "deserialization" })?.parameter).toBe(
    "deserialization_handler",
  );
  expect(handlerOf({ ...FAILURE, code: "timestamp" })).toEqual({
    node: "divide",
    parameter: "invalid_timestamp",
  });
  expect(handlerOf({ ...FAILURE, code: "production" })?.parameter).toBe("value");
  const cause = { code: "record_rejected", message: "", facts: {}, cause: null };
  expect(handlerOf({ ...FAILURE, cause })).toEqual({ node: "divide", parameter: "rejected" });
  expect(handlerOf({ ...FAILURE, code: "registry" })).toBeNull();
  expect(handlerOf({ ...FAILURE, record: null })).toBeNull();
});
