import { expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { elkIn, placed, untilItFails } from "./placing";

const WRITTEN = {
  format: "millrace.topology/1",
  name: "written",
  nodes: [
    { id: "in", kind: "source.stream", params: {} },
    { id: "kept", kind: "filter", params: {} },
    { id: "out", kind: "sink.topic", params: {} },
  ],
  edges: [
    { source: "in", target: "kept" },
    { source: "kept", target: "out" },
  ],
};

test("a document without any position is laid out, any other stays as it is", async () => {
  const { default: Elk } = await import("elkjs/lib/elk.bundled.js");
  const load = async () => new Elk();
  const drawn = await placed(WRITTEN, CATALOG, load);
  const places = drawn.nodes.map((node) => JSON.stringify(node.position));
  expect(places).not.toContain(undefined);
  expect(new Set(places).size).toBe(3);
  expect(await placed(drawn, CATALOG, load)).toBe(drawn);
  const broken = () => Promise.reject(new Error("no worker"));
  expect(await placed(WRITTEN, CATALOG, broken)).toBe(WRITTEN);
});

/** A worker whose script cannot be loaded: it answers with an error event alone. */
class LostWorker extends EventTarget {
  ended = false;
  readonly onerror = null;
  readonly onmessage = null;
  readonly onmessageerror = null;

  postMessage() {
    if (this.ended) return;
    setTimeout(() => this.dispatchEvent(new Event("error")));
  }

  terminate() {
    this.ended = true;
  }
}

test("a layout whose worker is lost fails, and the next one has a new worker", async () => {
  const workers: LostWorker[] = [];
  const load = untilItFails((failed) =>
    elkIn(() => {
      const worker = new LostWorker();
      workers.push(worker);
      return worker;
    }, failed),
  );
  const first = load();
  expect(load()).toBe(first);
  await expect((await first).layout({ id: "root" })).rejects.toThrow("cannot be loaded");
  expect(workers.map(({ ended }) => ended)).toEqual([true]);
  await expect((await load()).layout({ id: "root" })).rejects.toThrow("cannot be loaded");
  expect(workers).toHaveLength(2);
});

test("a load that failed is tried again, one that succeeded is kept", async () => {
  const answers = [Promise.reject(new Error("offline")), Promise.resolve("elk")];
  const load = untilItFails(() => answers.shift() ?? Promise.resolve("another"));
  await expect(load()).rejects.toThrow("offline");
  expect(await load()).toBe("elk");
  expect(await load()).toBe("elk");
});
