import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { listAudit } from "../api/accountCalls";
import { open } from "../testing/rendering";
import { Audit } from "./Audit";
import { actionText, factsText, subjectText } from "./auditTexts";

const ENTRY = {
  id: 1,
  actor: "Ada",
  at: "2026-01-01T08:00:00Z",
  address: "127.0.0.1",
  action: "deployment.redeploy",
  subject: "deployment",
  subject_id: 4,
  detail: { topology: "Word count", version: 3, stores: null, settings: {} },
};

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("an entry says who did what to which topology, and the facts", async () => {
  vi.stubGlobal("fetch", async () =>
    Response.json({ count: 1, next: null, previous: null, results: [ENTRY] }),
  );
  open(<Audit of={["audit", "main"]} list={(query) => listAudit("main", query)} about="" />);
  const row = (await screen.findByText("Another version deployed")).closest("tr");
  expect(row?.textContent).toContain("Word countversion: 3");
  expect(row?.textContent).not.toContain("settings");
  expect(row?.textContent).toContain("Ada");
  expect(row?.textContent).toContain("127.0.0.1");
});

test("an entry that the page does not know is shown as it was recorded", () => {
  const entry = { action: "new.thing", subject: "thing", subject_id: 3, detail: { a: [1] } };
  expect([actionText(entry), subjectText(entry), factsText(entry)]).toEqual([
    "new.thing",
    "thing 3",
    "a: [1]",
  ]);
});
