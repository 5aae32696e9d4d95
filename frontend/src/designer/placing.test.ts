import { expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { placed } from "./placing";

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
