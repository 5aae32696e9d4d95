import { expect, test } from "vitest";
import { aDeployment, aDocument, aReport, aTask } from "../testing/samples";
import { failedAt, lagOf, movesBetween, type ViewInput, viewOf } from "./view";

function view(over: Partial<ViewInput> = {}) {
  const found = viewOf({
    deployment: aDeployment(),
    runtime: aReport(),
    deployed: { document: aDocument(), subtopologies: { lines: [0], count: [1], out: [1] } },
    stale: false,
    ...over,
  });
  if (found === null) throw new Error("nothing to view");
  return found;
}

test("a node shows its rates, its drops and its own tasks", () => {
  expect(view().nodes.count).toMatchObject({
    inRate: 50,
    dropped: { null_key: 2 },
    misses: { no_match: 4 },
    deadLetters: 1,
    tasks: [{ task: "1_0", state: "running", rate: 12.5 }],
  });
});

test("a node that is drawn but not deployed has no figures; a silent one has zeros", () => {
  const silent = view({ runtime: aReport({ nodes: {} }) });
  expect(silent.nodes.count).toMatchObject({ inRate: 0, outTotal: 0 });
  expect(silent.nodes.drawn).toBeUndefined();
  expect(view({ deployed: null, runtime: aReport({ nodes: {} }) }).nodes).toEqual({});
});

test("a node that repartitions shows the tasks in which it works", () => {
  const deployed = { document: aDocument(), subtopologies: { count: [0, 1] } };
  const spread = view({ deployed });
  expect(spread.nodes.count?.tasks.map((task) => task.task)).toEqual(["1_0"]);
});

test("only a source shows a lag, that of the topics it reads", () => {
  expect(view().nodes.lines?.lag).toBe(10);
  expect(view().nodes.count?.lag).toBeNull();
});

test("a source shows what the broker deleted before it was read", () => {
  const lost = [
    { topic: "lines", partition: 0, records: 4 },
    { topic: "lines", partition: 1, records: 3 },
    { topic: "other", partition: 0, records: 2 },
  ];
  const nodes = view({ runtime: aReport({ lost }) }).nodes;
  expect([nodes.lines?.lost, nodes.count?.lost]).toEqual([7, 0]);
});

test("no batch is shown before the first has ended, nor in real time", () => {
  expect(view({ runtime: aReport({ batch: null }) }).batch).toBeNull();
  const deployment = aDeployment({ settings: { real_time_ms: 10_000 } });
  expect(view({ deployment })).toMatchObject({ batch: null, realTime: true });
  expect(view().batch?.number).toBe(7);
});

test("a store shows how many rows it holds", () => {
  expect(view().nodes.counts).toMatchObject({ storeRows: 17, storeBytes: 2048 });
});

test("figures that are too old are unknown, not the last ones known", () => {
  const stale = view({ stale: true });
  expect(stale.stale).toBe(true);
  expect(stale.tasks.map((task) => [task.state, task.rate, task.lag])).toEqual([
    ["unknown", null, null],
    ["unknown", null, null],
  ]);
});

test("the tasks of a deployment that sleeps are asleep", () => {
  const deployment = aDeployment({ observed: "asleep" });
  expect(view({ deployment }).tasks.map((task) => task.state)).toEqual(["asleep", "asleep"]);
});

test("a task that is far behind is degraded", () => {
  const partition = { topic: "lines", partition: 0, offset: 0, end_offset: 5_000, lag: 5_000 };
  const report = aReport({ tasks: [aTask({ rate: 10, topic_partitions: [partition] })] });
  expect(view({ runtime: report }).tasks[0]?.state).toBe("degraded");
});

test("of plain PySpark the lag of sources is known, and no figures of nodes without a report", () => {
  const place = { topic: "lines", partition: 1, offset: 4, end_offset: 9, lag: 4 };
  const plain = view({
    deployment: aDeployment({ settings: { dialect: "plain" } }),
    runtime: aReport({ tasks: [], topic_partitions: [place] }),
  });
  expect(plain.nodes.lines?.lag).toBe(4);
  expect(Object.keys(plain.nodes)).toEqual(["lines", "count"]);
});

test("a failure stands at its node", () => {
  const failure = {
    code: "fault",
    node: "count",
    parameter: null,
    message: "Overflow",
    record: null,
  };
  expect(view({ deployment: aDeployment({ failure }) }).nodes.count?.failure).toBe("Overflow");
});

test("nothing is shown before the first report", () => {
  expect(
    viewOf({
      deployment: aDeployment(),
      runtime: null,
      deployed: null,
      stale: false,
    }),
  ).toBeNull();
});

test("a lag that is not reported follows from the offsets, and is unknown without them", () => {
  const at = { topic: "a", partition: 0, offset: 3, end_offset: 10, lag: null };
  expect(lagOf([at])).toBe(7);
  expect(lagOf([{ ...at, end_offset: null }])).toBeNull();
  expect(lagOf([])).toBeNull();
});

test("a task on another executor has moved, one on another thread has not", () => {
  const before = aReport({ tasks: [aTask(), aTask({ task: "0_1" })] });
  const after = aReport({
    tasks: [aTask({ executor: "2" }), aTask({ task: "0_1", thread: "stream-2" })],
  });
  expect(movesBetween(before, after)).toMatchObject([{ task: "0_0", from: "driver", to: "2" }]);
  expect(movesBetween(null, after)).toEqual([]);
});

test("a node that a deployment failed at is marked until it runs again", () => {
  const failure = { code: "x", message: "Overflow", node: "count", parameter: null, record: null };
  expect(failedAt(aDeployment({ observed: "failed", failure }))).toEqual({
    node: "count",
    message: "Overflow",
  });
  expect(failedAt(aDeployment({ observed: "running", failure }))).toBeNull();
  expect(
    failedAt(aDeployment({ observed: "failed", failure: { ...failure, node: null } })),
  ).toBeNull();
  expect(failedAt(null)).toBeNull();
});
