import { afterEach, describe, expect, test, vi } from "vitest";
import { aDeployment, aReport, aRun, aTopology } from "../testing/samples";
import { applyEvent, EMPTY_LIVE, type LiveEvent, subscribe } from "./live";

const snapshot = (
  over: Partial<Extract<LiveEvent, { type: "snapshot" }>["data"]> = {},
): LiveEvent => ({
  type: "snapshot",
  data: {
    topology: aTopology(),
    deployment: null,
    deployments: [],
    runtime: null,
    presence: [],
    ...over,
  },
});

describe("live events", () => {
  test("applied to an old snapshot they give what a fresh snapshot says", () => {
    const running = aDeployment({ observed: "running", revision: 4, run: aRun() });
    const report = aReport({ batch: 9 });
    const events: LiveEvent[] = [
      snapshot(),
      { type: "deployment.changed", data: aDeployment({ observed: "compiling", revision: 1 }) },
      { type: "deployment.changed", data: running },
      { type: "runtime.progress", data: aReport({ batch: 8 }) },
      { type: "presence", data: { users: [{ id: 2, display_name: "Ada", node: "count" }] } },
      { type: "runtime.progress", data: report },
    ];
    const { id, observed, desired, version } = running;
    const fresh = applyEvent(
      EMPTY_LIVE,
      snapshot({
        topology: aTopology({ deployment: { id, observed, desired, version } }),
        deployment: running,
        runtime: report,
        presence: [{ id: 2, display_name: "Ada", node: "count" }],
      }),
    );
    expect(events.reduce(applyEvent, EMPTY_LIVE)).toEqual(fresh);
  });

  test("an answer that overtook an older event is not undone by it", () => {
    const stopped = aDeployment({ observed: "stopped", revision: 7 });
    const state = [
      snapshot({ deployment: aDeployment({ observed: "running", revision: 5 }) }),
      { type: "deployment.changed", data: stopped } as const,
      {
        type: "deployment.changed",
        data: aDeployment({ observed: "stopping", revision: 6 }),
      } as const,
    ].reduce(applyEvent, EMPTY_LIVE);
    expect(state.deployment?.observed).toBe("stopped");
  });

  test("the figures of a run are gone as soon as another run takes its place", () => {
    const state = [
      snapshot({ deployment: aDeployment({ run: aRun() }), runtime: aReport() }),
      {
        type: "deployment.changed",
        data: aDeployment({ revision: 9, run: aRun({ id: 2, report_id: "second", pid: 4243 }) }),
      } as const,
    ].reduce(applyEvent, EMPTY_LIVE);
    expect(state.runtime).toBeNull();
  });

  test("a deployment that was deleted leaves nothing behind", () => {
    const state = [
      snapshot({ deployment: aDeployment({ run: aRun() }), runtime: aReport() }),
      { type: "deployment.deleted", data: { id: 1 } } as const,
    ].reduce(applyEvent, EMPTY_LIVE);
    expect(state).toMatchObject({ deployment: null, runtime: null });
  });
});

describe("the stream of events", () => {
  const open: string[] = [];

  class Source {
    onopen = null;
    onerror = null;
    constructor(readonly url: string) {
      open.push(url);
    }
    addEventListener() {}
    close() {
      open.splice(open.indexOf(this.url), 1);
    }
  }

  const show = (hidden: boolean) => {
    vi.spyOn(document, "hidden", "get").mockReturnValue(hidden);
    document.dispatchEvent(new Event("visibilitychange"));
  };

  afterEach(() => {
    vi.unstubAllGlobals();
    open.length = 0;
  });

  test("is closed while the page is in the background, and opened again", () => {
    vi.stubGlobal("EventSource", Source);
    const subscription = subscribe("/api/live", vi.fn(), vi.fn());
    expect(open).toEqual(["/api/live"]);
    show(true);
    expect(open).toEqual([]);
    show(false);
    expect(open).toEqual(["/api/live"]);
    subscription.close();
    show(false);
    expect(open).toEqual([]);
  });

  test("is not opened by a page that is loaded in the background", () => {
    vi.stubGlobal("EventSource", Source);
    show(true);
    const subscription = subscribe("/api/live", vi.fn(), vi.fn());
    expect(open).toEqual([]);
    show(false);
    expect(open).toEqual(["/api/live"]);
    subscription.close();
  });
});
