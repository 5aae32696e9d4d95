import { afterEach, expect, it } from "vitest";
import { useLive } from "../live/store";
import { aDeployment, aTopology } from "../testing/samples";
import { knownDeployment } from "./acting";

afterEach(() => useLive.getState().reset());

it("waits for the server to say what is deployed before a second deployment is made", async () => {
  useLive.getState().reset();
  const found = knownDeployment();
  const deployment = aDeployment();
  useLive.getState().receive({
    type: "snapshot",
    data: { topology: aTopology(), deployment, deployments: [], runtime: null, presence: [] },
  });
  expect((await found)?.id).toBe(deployment.id);
  expect((await knownDeployment())?.id).toBe(deployment.id);
});
