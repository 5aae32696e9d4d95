import { act, useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { DeploymentSettings } from "../api/types";
import { useLive } from "../live/store";
import { choose, field, render, type } from "../testing/rendering";
import { aDeployment } from "../testing/samples";
import { BeginningFields } from "./BeginningFields";
import { type Beginning, CONTINUES } from "./beginning";
import { useChange } from "./change";
import { DeployOptions } from "./DeployOptions";
import { StartDialog } from "./StartDialog";

let close: () => Promise<void>;

afterEach(async () => {
  await close();
  vi.unstubAllGlobals();
});

let values: DeploymentSettings = {};
let begins: Beginning = CONTINUES;

function Held({ fresh }: { fresh: boolean }) {
  const [settings, setSettings] = useState<DeploymentSettings>({});
  const [beginning, setBeginning] = useState(CONTINUES);
  values = settings;
  begins = beginning;
  return (
    <DeployOptions
      values={settings}
      runsPlain={false}
      fresh={fresh}
      onChange={setSettings}
      beginning={beginning}
      onBeginning={setBeginning}
    />
  );
}

test("each option of a first deployment is a setting", async () => {
  close = await render(<Held fresh={true} />);
  await choose("Start from", "Latest record");
  expect(values).toEqual({ start: "latest" });
  await choose("Trigger", "Every second");
  expect(values).toMatchObject({ trigger_ms: 1000 });
  await choose("Trigger", "Real time: each record at once");
  expect(values.real_time_ms).toBeGreaterThan(0);
  await choose("Trigger", "As fast as possible");
  expect(values.real_time_ms).toBeUndefined();
  await type(field("Cores"), "3");
  await type(field("Memory, MB"), "2048");
  expect(values).toMatchObject({ cores: 3, memory_mb: 2048 });
  await choose("Lost offsets", "Continue at the first record");
  expect(values).toMatchObject({ lost_offsets: "earliest" });
  await choose("Lost offsets", "Fail without reading");
  expect(values.lost_offsets ?? "fail").toBe("fail");
  await choose("JVM", "Shared with other deployments");
  expect(values).toMatchObject({ jvm: "shared", start: "latest" });
  expect(values.cores).toBeUndefined();
  expect(document.body.textContent).not.toContain("Memory, MB");
});

test("a deployment that has run before chooses its position and a reset", async () => {
  close = await render(<Held fresh={false} />);
  await choose("Start from", "Given offsets");
  await type(field("Offsets"), "orders 0 1200");
  expect(begins).toMatchObject({ position: "offsets", offsets: "orders 0 1200" });
  await choose("Start from", "A time");
  await type(field("Time"), "2026-01-02T03:04:05");
  expect(begins).toMatchObject({ position: "time", time: "2026-01-02T03:04:05" });
  await act(async () => document.querySelector<HTMLElement>("[data-testid=begin-reset]")?.click());
  expect(begins.resets).toBe(true);
});

function HeldBeginning() {
  const [beginning, setBeginning] = useState(CONTINUES);
  begins = beginning;
  return <BeginningFields value={beginning} plain={true} onChange={setBeginning} />;
}

test("another position of plain PySpark empties its stores", async () => {
  close = await render(<HeldBeginning />);
  expect(begins.resets).toBe(false);
  await choose("Start from", "Earliest record");
  expect(begins).toMatchObject({ position: "earliest", resets: true });
  const reset = document.querySelector<HTMLInputElement>("[data-testid=begin-reset]");
  expect(reset?.disabled).toBe(true);
});

test("a stopped deployment starts from a position after its plan was accepted", async () => {
  const sent: { path: string; body: unknown }[] = [];
  const plan = {
    before: 3,
    version: 3,
    stores: [],
    sources: [],
    accepted: true,
    as_of: null,
    reset: false,
    warnings: [{ code: "skipped", message: "" }],
    handover: null,
  };
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    if (request.method === "POST") sent.push({ path, body: JSON.parse(text) });
    const found = path.endsWith("/plan") ? plan : aDeployment();
    return new Response(JSON.stringify(found), { headers: { "Content-Type": "application/json" } });
  });
  useLive.setState({ deployment: aDeployment({ id: 7, version: 3 }) });
  close = await render(<StartDialog />);
  await choose("Start from", "Latest record");
  await act(async () => document.querySelector<HTMLElement>("[data-testid=start-plan]")?.click());
  await vi.waitFor(() => expect(useChange.getState().asked).not.toBeNull());
  expect(sent).toEqual([
    {
      path: "/api/deployments/7/plan",
      body: { version: 3, start_from: { position: "latest" } },
    },
  ]);
  await act(async () => useChange.getState().asked?.answer({}));
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]).toEqual({
    path: "/api/deployments/7/redeploy",
    body: { version: 3, stores: {}, start_from: { position: "latest" } },
  });
});
