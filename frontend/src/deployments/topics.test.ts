import { expect, it } from "vitest";
import { aDocument } from "../testing/samples";
import { newTopic } from "../topics/newTopic";
import { withTopic } from "./topics";

const missing = { partitions: 1, nearest: [] };

it("puts another topic where the missing one is named, and nowhere else", () => {
  const lines = { ...missing, name: "lines", node: "lines", parameter: "topics" };
  const counts = { ...missing, name: "counts", node: "out", parameter: "topic" };
  const dead = { ...missing, name: "dad", node: null, parameter: "dead_letter_topic" };
  let document = withTopic(aDocument(), lines, "lines-2");
  document = withTopic(document, counts, "counts-2");
  document = withTopic(document, dead, "dead");
  expect(document.nodes.map((node) => node.params)).toEqual([
    { topics: ["lines-2"] },
    {},
    { name: "counts" },
    { topic: "counts-2" },
  ]);
  expect(document.settings).toEqual({ dead_letter_topic: "dead" });
});

it("leaves the retention to the broker where nothing was chosen", () => {
  expect(newTopic("a", 3, "")).toEqual({ name: "a", partitions: 3 });
  expect(newTopic("a", 3, "-1")).toEqual({ name: "a", partitions: 3, retention_ms: -1 });
});
