import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useDesigner } from "../designer/store";
import { emptyDocument } from "../graph/document";
import { useLive } from "../live/store";
import { open } from "../testing/rendering";
import { aDeployment, aReport, aRun, aTopology } from "../testing/samples";
import { useChange } from "./change";
import { Environments } from "./Environments";
import { PromoteDialog } from "./PromoteDialog";
import { Promotions } from "./Promotions";
import { usePromoting } from "./steps";

const dev = aDeployment({ id: 4, version: 3, settings: { environment: "dev" }, run: aRun() });
const prod = aDeployment({ id: 7, version: 2, settings: { environment: "prod" } });
const PROMOTION = {
  environment: "test",
  version: 3,
  deployment: null,
  desired: null,
  settings: { environment: "test", cores: 3 },
  parameters: [{ name: "orders", old: "orders-dev", new: "orders-test", by_default: false }],
  approval: { required: false, approved_by: [], possible_by: [] },
  tests: { required: false, passed: 0, missing: [], doubled: [], doubles: [] },
  plan: null,
};
const PLAN = {
  before: 2,
  version: 3,
  stores: [],
  sources: [],
  accepted: true,
  as_of: null,
  reset: false,
  warnings: [],
  handover: null,
  parameters: [],
  environments: { old: "prod", new: "prod" },
  approval: null,
  tests: null,
};

let asked: [string, unknown][];
let promotion: object;

beforeEach(() => {
  asked = [];
  promotion = PROMOTION;
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url, "http://localhost").pathname;
    const found = path.endsWith("/missing-topics")
      ? []
      : request.method === "GET"
        ? promotion
        : { ...prod, id: 9, version: 3, settings: { environment: "test" } };
    if (request.method !== "GET") asked.push([path, await request.json()]);
    return new Response(JSON.stringify(found), {
      headers: { "Content-Type": "application/json" },
    });
  });
  useLive.getState().reset();
  useLive.getState().receive({
    type: "snapshot",
    data: {
      topology: aTopology(),
      deployment: dev,
      deployments: [prod, dev],
      runtime: aReport({ deployment: 4 }),
      presence: [],
    },
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  useChange.setState({ asked: null });
  usePromoting.setState({ proposal: null });
  useLive.getState().reset();
});

test("deployments are shown from the first environment to the last, and one of them is chosen", () => {
  open(<Environments />);
  const names = screen.getAllByRole("button").map((each) => each.textContent);
  expect(names).toEqual(["devRunning", "prodRunning"]);
  fireEvent.click(screen.getByRole("button", { name: /prod/ }));
  expect(useLive.getState().deployment?.id).toBe(7);
  expect(useLive.getState().runtime).toBeNull();
  expect(screen.getByRole("button", { name: /prod/ }).getAttribute("aria-pressed")).toBe("true");
});

test("a promotion to a new deployment shows its values, and deploys with its options", async () => {
  useDesigner.setState({ document: emptyDocument("Orders") });
  open(<Promotions deployment={dev} onChosen={() => undefined} />);
  const offered = screen.getAllByRole("button").map((each) => each.textContent);
  expect(offered).toEqual(["Promote v3 to test…", "Promote v3 to prod…"]);
  fireEvent.click(screen.getByTestId("promote-test"));
  await waitFor(() => expect(usePromoting.getState().proposal).not.toBeNull());
  const { proposal } = usePromoting.getState();
  if (proposal === null) throw new Error("nothing is proposed");
  open(<PromoteDialog proposal={proposal} />);
  expect(screen.getByTestId("change-values").textContent).toContain("orders-devorders-test");
  expect(screen.queryByText("Trigger")).toBeNull();
  fireEvent.click(screen.getByTestId("promote-options"));
  expect(screen.queryByText("Trigger")).not.toBeNull();
  expect(screen.queryByTestId("environment")).toBeNull();
  fireEvent.click(screen.getByTestId("promote-accept"));
  await waitFor(() => expect(useLive.getState().deployment?.id).toBe(9));
  expect(asked).toEqual([
    [
      "/api/deployments/4/promotion",
      { environment: "test", settings: { environment: "test", cores: 3 } },
    ],
  ]);
});

test("a promotion to a deployment waits until its plan is accepted", async () => {
  promotion = { ...PROMOTION, environment: "prod", deployment: 7, desired: "running", plan: PLAN };
  const chosen = vi.fn();
  open(<Promotions deployment={dev} onChosen={chosen} />);
  fireEvent.click(screen.getByTestId("promote-prod"));
  await waitFor(() => expect(useChange.getState().asked).not.toBeNull());
  expect(chosen, "the options are closed before the plan is shown").toHaveBeenCalledOnce();
  const question = useChange.getState().asked;
  expect(question?.promotion).toEqual({ environment: "prod", runs: true });
  expect(asked).toEqual([]);
  question?.answer({});
  await waitFor(() =>
    expect(asked).toEqual([["/api/deployments/4/promotion", { environment: "prod", stores: {} }]]),
  );
});

test("a deployment without an environment is promoted once the topology has parameters", () => {
  useDesigner.setState({ document: emptyDocument("Orders") });
  open(<Promotions deployment={aDeployment()} onChosen={() => undefined} />);
  expect(screen.queryByRole("button")).toBeNull();
});
