// @vitest-environment happy-dom
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

/** A snapshot with a deployment and its report. */
const shown = (deployment: ReturnType<typeof aDeployment>, ...others: (typeof deployment)[]) =>
  snapshot({ deployment, deployments: [...others, deployment], runtime: aReport() });

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
    const brief = { id, observed, desired, version, environment: null };
    const fresh = applyEvent(
      EMPTY_LIVE,
      snapshot({
        topology: aTopology({ deployment: brief, deployments: [brief] }),
        deployment: running,
        deployments: [running],
        runtime: report,
        presence: [{ id: 2, display_name: "Ada", node: "count" }],
      }),
    );
    expect(events.reduce(applyEvent, EMPTY_LIVE)).toEqual(fresh);
  });

  test("an answer that overtook an older event is not undone by it", () => {
    const stopped = aDeployment({ observed: "stopped", revision: 7 });
    const state = [
      shown(aDeployment({ observed: "running", revision: 5 })),
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
      shown(aDeployment({ run: aRun() })),
      {
        type: "deployment.changed",
        data: aDeployment({ revision: 9, run: aRun({ id: 2, report_id: "second", pid: 4243 }) }),
      } as const,
    ].reduce(applyEvent, EMPTY_LIVE);
    expect(state.runtime).toBeNull();
  });

  test("another deployment of the topology changes its state, not what is shown", () => {
    const dev = aDeployment({ id: 4, settings: { environment: "dev" }, run: aRun() });
    const prod = aDeployment({ id: 7, settings: { environment: "prod" }, observed: "starting" });
    const running = { ...prod, observed: "running", revision: prod.revision + 1 } as const;
    const state = [shown(dev, prod), { type: "deployment.changed", data: running } as const].reduce(
      applyEvent,
      EMPTY_LIVE,
    );
    expect(state.deployment).toEqual(dev);
    expect(state.runtime).not.toBeNull();
    expect(state.deployments).toEqual([running, dev]);
    expect(state.topology?.deployment).toMatchObject({ id: 7, environment: "prod" });
    const left = applyEvent(state, { type: "deployment.deleted", data: { id: 4 } });
    expect(left).toMatchObject({ deployment: running, deployments: [running], runtime: null });
  });

  test("a deployment that was deleted leaves nothing behind", () => {
    const state = [
      shown(aDeployment({ run: aRun() })),
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
