import { beforeEach, expect, test } from "vitest";
import { aDeployment, aReport, aRun, aTask, aTopology } from "../testing/samples";
import { useLive } from "./store";

const { receive } = useLive.getState();

beforeEach(() => {
  useLive.getState().reset();
  receive({
    type: "snapshot",
    data: {
      topology: aTopology(),
      deployment: aDeployment({ run: aRun() }),
      deployments: [],
      runtime: aReport(),
      presence: [],
    },
  });
});

test("a thread keeps its row while it rests", () => {
  receive({ type: "runtime.progress", data: aReport({ tasks: [aTask({ thread: "stream-2" })] }) });
  expect(useLive.getState().threads.driver).toEqual(["stream-1", "stream-2"]);
});

test("a driver that came back after a crash is a restart in the history of moves", () => {
  receive({
    type: "deployment.changed",
    data: aDeployment({ revision: 2, observed: "restarting", run: null }),
  });
  expect(useLive.getState().moves).toEqual([]);
  const run = aRun({ id: 2, report_id: "second", pid: 5000, restarts: 1 });
  receive({ type: "deployment.changed", data: aDeployment({ revision: 3, run }) });
  expect(useLive.getState().moves).toMatchObject([{ kind: "restart" }]);
});

test("a repeated stale report does not count as heard", () => {
  const heard = useLive.getState().receivedAt;
  receive({
    type: "snapshot",
    data: {
      topology: aTopology(),
      deployment: aDeployment({ run: aRun() }),
      deployments: [],
      runtime: aReport({ stale: true }),
      presence: [],
    },
  });
  expect(useLive.getState().receivedAt).toBe(heard);
});

test("log lines are kept in order, the newest two thousand", () => {
  for (let n = 0; n < 2_100; n += 1) {
    receive({
      type: "runtime.log",
      data: { at: null, level: "info", node: null, record: null, message: String(n) },
    });
  }
  const { logs } = useLive.getState();
  expect([logs.length, logs[0]?.message, logs.at(-1)?.message]).toEqual([2_000, "100", "2099"]);
});
