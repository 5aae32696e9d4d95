import { expect, test, vi } from "vitest";
import { aTopology } from "../testing/samples";
import { freeName } from "./names";

const PAGE = 200;
const names = ["Orders", ...Array.from({ length: 2 * PAGE }, (_, n) => `Orders ${n + 2}`)];

vi.mock("../api/topologyCalls", () => ({
  listTopologies: async (_ws: string, { page = 1 }) => ({
    next: page * PAGE < names.length ? "more" : null,
    results: names
      .slice((page - 1) * PAGE, page * PAGE)
      .map((name, id) => aTopology({ id: id + 1, name })),
  }),
}));

test("a free name is not taken by a topology on a later page", async () => {
  expect(await freeName("main", "Orders")).toBe("Orders 402");
});
