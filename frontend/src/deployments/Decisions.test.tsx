import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { aDeployment } from "../testing/samples";
import { Decisions } from "./Decisions";

const PLACE = { topic: "orders", partition: 2 };
const BASE = {
  ...PLACE,
  decision: "skip" as const,
  node: "divide",
  by: "Ann",
  at: "2026-01-01T00:00:00Z",
};
const DECISIONS = [
  { ...BASE, offset: 15, active: false },
  { ...BASE, offset: 16, active: false, removed_by: "Bob", removed_at: BASE.at },
  { ...BASE, offset: 17, active: true },
] as const;

let sent: string[];

function draw(operator: boolean) {
  return open(<Decisions deployment={7} decisions={DECISIONS} operator={operator} />);
}

beforeEach(() => {
  sent = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    return new Response(JSON.stringify(aDeployment()), {
      headers: { "Content-Type": "application/json" },
    });
  });
});

afterEach(cleanup);

test("only a decision that applies can be removed, with a second click", async () => {
  draw(true);
  expect(screen.getByText("Removed by Bob")).toBeTruthy();
  fireEvent.click(screen.getByTestId("remove-decision"));
  expect(sent.filter((each) => each.startsWith("DELETE"))).toEqual([]);
  fireEvent.click(screen.getByTestId("remove-decision-now"));
  await waitFor(() =>
    expect(sent).toContain("DELETE /api/deployments/7/record-decisions/orders/2/17"),
  );
});

test("those who may not decide have no button", () => {
  draw(false);
  expect(screen.queryByTestId("remove-decision")).toBeNull();
});
