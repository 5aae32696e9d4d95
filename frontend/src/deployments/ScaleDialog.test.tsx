import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useLive } from "../live/store";
import { render, type, until } from "../testing/rendering";
import { aDeployment } from "../testing/samples";
import { ScaleDialog } from "./ScaleDialog";

const sent: { path: string; body: unknown }[] = [];
const plan = {
  before: 1,
  version: 1,
  stores: [],
  sources: [],
  accepted: true,
  as_of: null,
  reset: false,
  warnings: [],
  handover: { warm: false, reason: "memory", message: "" },
};

beforeEach(() => {
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    sent.push({ path, body: text === "" ? null : JSON.parse(text) });
    const found = path.endsWith("/plan") ? plan : { ...aDeployment(), settings: { cores: 4 } };
    return new Response(JSON.stringify(found), { headers: { "Content-Type": "application/json" } });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  sent.length = 0;
});

test("other threads and memory are asked for once the plan was shown", async () => {
  const deployment = { ...aDeployment(), settings: { cores: 2, memory_mb: 1024, trigger_ms: 500 } };
  useLive.setState({ deployment });
  const close = await render(<ScaleDialog />);
  await until(() => expect(document.querySelector("[data-testid=handover]")).not.toBeNull());
  expect(document.querySelector("[data-testid=handover]")?.textContent).toContain(
    "There is not enough memory for two drivers at once.",
  );
  const accept = document.querySelector<HTMLButtonElement>("[data-testid=scale-accept]");
  expect(accept?.disabled).toBe(true);
  const cores = document.querySelector<HTMLInputElement>("[data-testid=scale] input");
  await type(cores, "4");
  await until(() =>
    expect(sent.at(-1)?.body).toEqual({
      version: deployment.version,
      settings: { cores: 4, memory_mb: 1024, trigger_ms: 500 },
    }),
  );
  expect(accept?.disabled).toBe(false);
  await act(async () => accept?.click());
  await until(() => expect(sent.at(-1)?.body).toEqual({ cores: 4, memory_mb: 1024 }));
  expect(sent.at(-1)?.path).toBe(`/api/deployments/${deployment.id}/scale`);
  await close();
});
