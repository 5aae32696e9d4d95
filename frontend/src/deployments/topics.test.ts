import { expect, it } from "vitest";
import type { TopologyDocument } from "../graph/document";
import { placeOf } from "../graph/parameters";
import { aDocument } from "../testing/samples";
import { newTopic } from "../topics/newTopic";
import { withTopic } from "./topics";

const missing = { partitions: 1, nearest: [] };

it("puts another topic where the missing one is named, and nowhere else", () => {
  const lines = { ...missing, name: "lines", node: "lines", parameter: "topics" };
  const counts = { ...missing, name: "counts", node: "out", parameter: "topic" };
  const dead = { ...missing, name: "dad", node: null, parameter: "dead_letter_topic" };
  let document: TopologyDocument = { ...aDocument(), settings: { dead_letter_topic: "dad" } };
  document = withTopic(document, lines, "lines-2", null);
  document = withTopic(document, counts, "counts-2", null);
  document = withTopic(document, dead, "dead", null);
  expect(document.nodes.map((node) => node.params)).toEqual([
    { topics: ["lines-2"] },
    {},
    { name: "counts" },
    { topic: "counts-2" },
  ]);
  expect(document.settings).toEqual({ dead_letter_topic: "dead" });
});

it("changes the value of the parameter that names a missing topic, where it holds", () => {
  const from = (topic: string): TopologyDocument => {
    const drawn = aDocument();
    const [source, ...others] = drawn.nodes;
    if (source === undefined) throw new Error("The sample has a source");
    return {
      ...drawn,
      parameters: { input: { type: "topic", default: "lnes", values: { prod: "prod-lnes" } } },
      nodes: [{ ...source, params: { topics: [topic] } }, ...others],
    };
  };
  const at = { ...missing, node: "lines", parameter: "topics" };
  const place = from(placeOf("input"));
  const fixed = withTopic(place, { ...at, name: "lnes" }, "lines", null);
  expect(fixed.parameters?.input?.default).toBe("lines");
  expect(fixed.nodes).toEqual(place.nodes);
  const inProd = withTopic(place, { ...at, name: "prod-lnes" }, "prod-lines", "prod");
  expect(inProd.parameters?.input).toMatchObject({
    default: "lnes",
    values: { prod: "prod-lines" },
  });
  // A name that is only partly that of the parameter has no such fix.
  const partly = from(`eu-${placeOf("input")}`);
  expect(withTopic(partly, { ...at, name: "eu-lnes" }, "lines", null)).toBe(partly);
});

it("leaves the retention to the broker where nothing was chosen", () => {
  expect(newTopic("a", 3, "")).toEqual({ name: "a", partitions: 3 });
  expect(newTopic("a", 3, "-1")).toEqual({ name: "a", partitions: 3, retention_ms: -1 });
});
