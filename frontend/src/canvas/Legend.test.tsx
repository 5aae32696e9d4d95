import { cleanup, fireEvent, screen } from "@testing-library/react";
import { ReactFlowProvider } from "@xyflow/react";
import { afterEach, expect, test } from "vitest";
import { TASK_STATES } from "../designer/runtime";
import { open } from "../testing/rendering";
import { Tools } from "./Floating";

afterEach(cleanup);

test("the legend explains each port, each state of a task, and both kinds of heat", async () => {
  open(
    <ReactFlowProvider>
      <Tools />
    </ReactFlowProvider>,
  );
  expect(screen.queryByTestId("legend")).toBeNull();
  fireEvent.click(screen.getByTestId("legend-button"));
  const legend = await screen.findByTestId("legend");
  expect(legend.querySelectorAll(".port-shape")).toHaveLength(5);
  const states = [...legend.querySelectorAll<HTMLElement>(".task-bars i")];
  expect(states.map((each) => each.dataset.state)).toEqual(Object.keys(TASK_STATES));
  expect(legend.querySelectorAll(".legend-heat")).toHaveLength(2);
  fireEvent.click(screen.getByTestId("legend-button"));
  expect(screen.queryByTestId("legend")).toBeNull();
});
