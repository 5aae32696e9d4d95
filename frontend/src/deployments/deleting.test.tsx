import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useLive } from "../live/store";
import { open } from "../testing/rendering";
import { aDeployment, aTopology } from "../testing/samples";
import { DeleteDeploymentDialog } from "./DeleteDeploymentDialog";
import { DeploymentCard } from "./DeploymentCard";

const dev = aDeployment({ id: 4, observed: "stopped", settings: { environment: "dev" } });
const prod = aDeployment({ id: 7, settings: { environment: "prod" } });
let asked: string[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "DELETE") asked.push(new URL(request.url, "http://localhost").pathname);
    return new Response(null, { status: 204 });
  });
  useLive.getState().reset();
  useLive.getState().receive({
    type: "snapshot",
    data: {
      topology: aTopology(),
      deployment: dev,
      deployments: [prod, dev],
      runtime: null,
      presence: [],
    },
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  useLive.getState().reset();
});

test("a deployment is deleted once the topology's name was typed, and another one is shown", async () => {
  open(<DeleteDeploymentDialog />);
  await screen.findByText("Delete the deployment in dev");
  expect(document.body.textContent).toContain("the next deployment starts with empty stores");
  const remove = screen.getByRole<HTMLButtonElement>("button", { name: "Delete" });
  const name = screen.getByLabelText("Type the name of the topology to confirm");
  fireEvent.change(name, { target: { value: "Word" } });
  expect(remove.disabled).toBe(true);
  fireEvent.change(name, { target: { value: "Word count" } });
  fireEvent.click(remove);
  await waitFor(() => expect(useLive.getState().deployment?.id).toBe(7));
  expect(asked).toEqual(["/api/deployments/4"]);
});

test("a deployment with a place of its own says that its checkpoint is kept", async () => {
  const settings = { checkpoint: "s3a://states/words" };
  useLive.setState({ deployment: aDeployment({ observed: "stopped", settings }) });
  open(<DeleteDeploymentDialog />);
  await screen.findByText(/the checkpoint in s3a:\/\/states\/words are kept/);
});

test.each([
  ["stopped", "stopped", true],
  ["failed", "running", true],
  ["stopping", "stopped", false],
  ["running", "running", null],
] as const)("%s: only a deployment at rest can be deleted", async (observed, desired, can) => {
  const deployment = aDeployment({ observed, desired });
  open(<DeploymentCard deployment={deployment} state={observed} operator />);
  fireEvent.click(screen.getByTestId("more-actions"));
  await screen.findByTestId("schedule-open");
  const found = screen.queryByTestId<HTMLButtonElement>("delete-deployment");
  expect(found === null ? null : !found.disabled).toBe(can);
});
