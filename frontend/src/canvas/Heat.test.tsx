import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { useRecordsView } from "../designer/recordsView";
import { type NodeFigures, useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { edgeId } from "../graph/document";
import { open } from "../testing/rendering";
import { HeatSwitch } from "./Heat";

const EDGE = { source: "in", target: "count" };

afterEach(() => {
  cleanup();
  useRuntime.setState({ figures: null });
  useRecordsView.setState({ shape: "records" });
});

test("where tasks work unevenly, the keys of the edge are one click away", async () => {
  useDesigner.setState({
    document: {
      format: "millrace.topology/1",
      name: "t",
      nodes: [
        { id: "in", kind: "source.stream", params: {} },
        { id: "count", kind: "count", params: {} },
      ],
      edges: [EDGE],
    },
  });
  const count = { tasks: [{ rate: 9 }, { rate: 1 }] } as unknown as NodeFigures;
  useRuntime.setState({ figures: { nodes: { count } } as never });
  open(<HeatSwitch />);
  expect(screen.queryByTestId("hottest-keys")).toBeNull();
  fireEvent.click(screen.getByRole("combobox", { name: "Heat" }));
  fireEvent.click(await screen.findByText("Heat: skew of tasks"));
  fireEvent.click(await screen.findByTestId("hottest-keys"));
  expect(useDesigner.getState().selection.edges).toEqual([edgeId(EDGE)]);
  expect(useView.getState()).toMatchObject({ bottomTab: "records", bottomOpen: true });
  expect(useRecordsView.getState().shape).toBe("keys");
});
