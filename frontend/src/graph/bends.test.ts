// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { CATALOG, editor } from "../commands/kit";
import { bendableOf } from "../designer/bendable";
import { foldedOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { t } from "../ui/i18n";
import { halfway, pointsOf, setPoints, straightened, wayThrough } from "./bends";
import { moveNodes, setParam } from "./changes";
import { edgeId, emptyDocument, type Position, type TopologyDocument } from "./document";
import { draw } from "./opening";
import { ways } from "./routing";

/** a → b → c in a row. */
function row(): TopologyDocument {
  const ids = ["a", "b", "c"];
  return {
    ...emptyDocument("row"),
    nodes: ids.map((id, index) => ({
      id,
      kind: index === 0 ? "source.stream" : index === 2 ? "sink.topic" : "filter",
      position: { x: index * 280, y: 0 },
      params: {},
    })),
    edges: [
      { source: "a", target: "b" },
      { source: "b", target: "c" },
    ],
  };
}

const AB = "a.out>b.in";
const at = (x: number, y: number): Position => ({ x, y });
const bent = (...points: Position[]) => setPoints(row(), { source: "a", target: "b" }, points);
const pointsIn = (document: TopologyDocument) => pointsOf(document).get(AB);

test("a wire passes through its points, starts to the right and arrives from the left", () => {
  const [from, to] = [at(216, 28), at(560, 28)];
  for (const points of [
    [at(300, 120)],
    [at(300, -80), at(420, -80)],
    [at(100, 200)],
    [at(600, 200), at(600, 300), at(0, 300)],
    [at(400, 28), at(300, 28)],
    [at(216, 200)],
  ]) {
    for (const end of [to, at(-40, 160)]) {
      const way = wayThrough(from, end, points);
      expect(way[0]).toEqual(from);
      expect(way.at(-1)).toEqual(end);
      expect(way[1]?.y).toBe(from.y);
      expect((way[1]?.x ?? 0) > from.x).toBe(true);
      expect(way.at(-2)?.y).toBe(end.y);
      expect((way.at(-2)?.x ?? 0) < end.x).toBe(true);
      for (const [index, corner] of way.slice(1).entries()) {
        const before = way[index] ?? corner;
        expect(corner.x === before.x || corner.y === before.y).toBe(true);
      }
      for (const point of points) {
        const on = way.slice(1).some((b, index) => {
          const a = way[index] ?? b;
          const within = (axis: "x" | "y") =>
            Math.min(a[axis], b[axis]) <= point[axis] && point[axis] <= Math.max(a[axis], b[axis]);
          return within("x") && within("y");
        });
        expect(on).toBe(true);
      }
    }
  }
});

test("a drawn wire goes through its points, and half of its length is on it", () => {
  const way = ways(bent(at(248, 100)), CATALOG).get(AB) ?? [];
  expect(way).toContainEqual(at(248, 100));
  expect(way.length).toBeGreaterThan(3);
  const middle = halfway(way);
  expect(way.slice(1).some(({ x, y }) => x === middle.x || y === middle.y)).toBe(true);
});

test("points move with both ends, and stay if one of them moves alone", () => {
  const document = bent(at(248, 100));
  const both = moveNodes(
    document,
    new Map([
      ["a", at(8, 80)],
      ["b", at(288, 80)],
    ]),
  );
  expect(pointsIn(both)).toEqual([at(256, 180)]);
  const one = moveNodes(document, new Map([["a", at(8, 80)]]));
  expect(pointsIn(one)).toEqual([at(248, 100)]);
});

test("bends are gone with their edge, its nodes and an arrangement of them", async () => {
  const drawn = editor(bent(at(248, 100)));
  drawn.select("b");
  await drawn.run("delete");
  expect(drawn.document().drawing).toBeUndefined();
  await drawn.undo();
  expect(pointsIn(drawn.document())).toEqual([at(248, 100)]);
  useDesigner.getState().select({ edges: [AB] });
  await drawn.run("delete");
  expect(drawn.document().drawing).toBeUndefined();
  expect(straightened(bent(at(1, 2)), new Set(["b"])).drawing).toBeUndefined();
  expect(pointsIn(straightened(bent(at(1, 2)), new Set(["c"])))).toEqual([at(1, 2)]);
});

test("a copy brings the bends between its nodes along", async () => {
  const drawn = editor(bent(at(248, 100)));
  drawn.select("a", "b");
  await drawn.run("duplicate");
  const { bends } = drawn.document().drawing ?? {};
  expect(bends).toHaveLength(2);
  const copy = bends?.[1];
  const source = drawn.document().nodes.find((node) => node.id === copy?.source);
  expect(copy?.source).not.toBe("a");
  expect(copy?.points[0]?.x).toBe(248 + (source?.position?.x ?? 0));
  expect(drawn.edges()).toContain(copy === undefined ? "" : edgeId(copy));
});

test("bends follow a renamed port", () => {
  const document: TopologyDocument = {
    ...row(),
    nodes: row().nodes.map((node) =>
      node.id === "b"
        ? { ...node, kind: "split", params: { branches: [{ port: "one", predicate: "true" }] } }
        : node,
    ),
    edges: [
      { source: "a", target: "b" },
      { source: "b", target: "c", source_port: "one" },
    ],
  };
  const led = setPoints(document, { source: "b", target: "c", source_port: "one" }, [at(5, 6)]);
  const now = setParam(led, CATALOG, "b", "branches", [{ port: "two", predicate: "true" }]);
  expect(now.edges[1]?.source_port).toBe("two");
  expect(now.drawing?.bends).toEqual([
    { source: "b", source_port: "two", target: "c", points: [at(5, 6)] },
  ]);
});

test("a command bends the selected edge, and another removes all bends as one step", async () => {
  const drawn = editor(row());
  useDesigner.getState().select({ edges: [AB] });
  expect(await drawn.run("bend-edge")).toBe(true);
  expect(await drawn.run("bend-edge")).toBe(true);
  expect(pointsIn(drawn.document())).toHaveLength(2);
  expect(await drawn.run("straighten-edge")).toBe(true);
  expect(drawn.document().drawing).toBeUndefined();
  expect(await drawn.run("straighten-edge")).toBe(false);
  await drawn.undo();
  expect(pointsIn(drawn.document())).toHaveLength(2);
});

test("what does not know bends keeps them: groups, notes, pins and other edges", async () => {
  const drawn = editor(bent(at(248, 100)));
  drawn.select("a", "b");
  await drawn.run("group");
  useDesigner
    .getState()
    .change(t("Bend the edge"), (now) => setPoints(now, { source: "b", target: "c" }, [at(1, 1)]));
  expect(Object.keys(drawn.document().drawing ?? {}).sort()).toEqual(["bends", "groups"]);
  expect(pointsIn(drawn.document())).toEqual([at(248, 100)]);
});

test("a collapsed group keeps the bends outside of it, which can be changed", async () => {
  const grouped = {
    ...row(),
    drawing: { groups: [{ id: "g", nodes: ["b"], collapsed: true }] },
  };
  const drawn = editor(
    setPoints(
      setPoints(grouped, { source: "a", target: "b" }, [at(248, 100), at(272, 40)]),
      { source: "b", target: "c" },
      [at(510, 40), at(540, 100)],
    ),
  );
  const folds = foldedOf(useDesigner.getState());
  const led = ways(drawn.document(), CATALOG, folds);
  expect(led.get(AB)).toContainEqual(at(248, 100));
  expect(led.get(AB)).not.toContainEqual(at(272, 40));
  expect(led.get("b.out>c.in")).toContainEqual(at(540, 100));
  expect(led.get("b.out>c.in")).not.toContainEqual(at(510, 40));
  useDesigner.getState().select({ edges: [AB] });
  expect(await drawn.run("bend-edge")).toBe(true);
  const now = pointsIn(drawn.document());
  expect(now).toHaveLength(3);
  expect(now?.at(-1)).toEqual(at(272, 40));
});

test("in the drawing of an opened fragment, points move with what makes room", () => {
  const fragments = {
    "part@1": {
      nodes: [
        { id: "in", kind: "fragment.input", params: {} },
        ...["x", "y"].map((id, index) => ({
          id,
          kind: "filter",
          position: { x: index * 280, y: 0 },
          params: {},
        })),
        { id: "out", kind: "fragment.output", params: {} },
      ],
      edges: [
        { source: "in", target: "x" },
        { source: "x", target: "y" },
        { source: "y", target: "out" },
      ],
    },
  };
  const document = {
    ...bent(at(248, 100)),
    fragments,
    nodes: [
      {
        id: "first",
        kind: "fragment",
        position: { x: -280, y: 0 },
        params: { fragment: "part@1" },
      },
      ...row().nodes,
    ],
  } as unknown as TopologyDocument;
  const drawn = draw(document, CATALOG, {}, ["first"]);
  const a = drawn.document.nodes.find((node) => node.id === "a")?.position ?? at(0, 0);
  expect(a.x).toBeGreaterThan(0);
  const [point] = pointsOf(drawn.document).get(AB) ?? [];
  expect(point).toEqual(at(248 + a.x, 100));
  expect(drawn.toDocument(point ?? at(0, 0))).toEqual(at(248, 100));
});

test("bends of edges at an opened fragment are changed, and those of the fragment stay", async () => {
  const bend = (source: string, target: string, ...points: Position[]) => ({
    source,
    target,
    points,
  });
  const fragments = {
    "part@1": {
      nodes: [
        { id: "in", kind: "fragment.input", params: {} },
        { id: "x", kind: "filter", position: at(0, 0), params: {} },
        { id: "y", kind: "filter", position: at(280, 0), params: {} },
        { id: "out", kind: "fragment.output", params: {} },
      ],
      edges: [
        { source: "in", target: "x" },
        { source: "in", target: "y" },
        { source: "x", target: "out" },
      ],
      drawing: { bends: [bend("in", "x", at(-24, 40)), bend("x", "out", at(240, 64))] },
    },
  };
  const document = {
    ...row(),
    fragments,
    nodes: row().nodes.map((node) =>
      node.id === "b" ? { ...node, kind: "fragment", params: { fragment: "part@1" } } : node,
    ),
    edges: [
      { source: "a", target: "b", target_port: "in" },
      { source: "b", source_port: "out", target: "c" },
    ],
    drawing: { bends: [bend("a", "b", at(240, 100)), bend("b", "c", at(544, 100), at(552, 80))] },
  } as unknown as TopologyDocument;
  const drawn = editor(document);
  useDesigner.setState({ openings: { ids: ["b"], draw } });
  const changeable = (index: number) => {
    const edge = drawn.document().edges[index];
    const found = edge && bendableOf(useDesigner.getState(), edge);
    return found && { ...found, edge: edgeId(found.edge) };
  };
  expect(changeable(0)).toMatchObject({ edge: "a.out>b--x.in", first: 0, count: 1 });
  expect(changeable(0)?.points).toHaveLength(2);
  expect(changeable(1)).toMatchObject({ edge: "b--x.out>c.in", first: 1, count: 2 });
  expect(changeable(1)?.points).toHaveLength(3);

  useDesigner.getState().select({ edges: [AB] });
  expect(await drawn.run("bend-edge")).toBe(true);
  expect(pointsIn(drawn.document())).toHaveLength(2);
  expect(pointsIn(drawn.document())).toContainEqual(at(240, 100));
  expect(changeable(0)?.points).toHaveLength(3);
  expect(drawn.document().fragments).toEqual(fragments);
  expect(await drawn.run("straighten-edge")).toBe(true);
  expect(pointsIn(drawn.document())).toBeUndefined();
  expect(changeable(0)).toMatchObject({ first: 0, count: 0 });
  expect(changeable(0)?.points).toHaveLength(1);
  useDesigner.getState().select({ edges: ["b.out>c.in"] });
  expect(await drawn.run("straighten-edge")).toBe(true);
  expect(drawn.document().drawing).toBeUndefined();
});
