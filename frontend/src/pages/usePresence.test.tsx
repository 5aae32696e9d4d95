import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EMPTY_LIVE } from "../api/live";
import { type CanvasApi, setCanvas } from "../designer/canvasApi";
import { initialsOf, usePresence } from "../designer/presence";
import { useDesigner } from "../designer/store";
import { useLive } from "../live/store";
import { useCursorFeed, usePresenceFeed } from "./usePresence";

let sent: unknown[];
let cursors: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  cursors = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "PUT") {
      const body = await request.json();
      if (request.url.endsWith("/cursor")) cursors.push(body.at);
      else sent.push(body.node);
    }
    return new Response(null, { status: 204 });
  });
  useLive.setState({ ...EMPTY_LIVE });
  useDesigner.setState({ selection: { nodes: [], edges: [] } });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const select = (...nodes: string[]) => useDesigner.setState({ selection: { nodes, edges: [] } });

test("others are shown with their node, the reader is not", () => {
  const { unmount } = renderHook(() => usePresenceFeed(1, 5, false));
  useLive.setState({
    presence: [
      { id: 5, display_name: "Me", node: "a" },
      { id: 6, display_name: "Grace Hopper", node: "b" },
    ],
  });
  expect(usePresence.getState().people).toEqual([{ id: 6, name: "Grace Hopper", node: "b" }]);
  unmount();
  expect(usePresence.getState().people).toEqual([]);
});

test("a node that stays selected is sent, those on the way are not, and none at the end", async () => {
  const { unmount } = renderHook(() => usePresenceFeed(1, 5, true));
  await vi.advanceTimersByTimeAsync(300);
  expect(sent).toEqual([null]);
  select("a");
  await vi.advanceTimersByTimeAsync(100);
  select("b");
  await vi.advanceTimersByTimeAsync(300);
  select("b", "c");
  await vi.advanceTimersByTimeAsync(300);
  expect(sent).toEqual([null, "b", null]);
  select("c");
  await vi.advanceTimersByTimeAsync(300);
  unmount();
  await vi.advanceTimersByTimeAsync(10);
  expect(sent).toEqual([null, "b", null, "c", null]);
});

test("what a viewer selects is not sent", async () => {
  const { unmount } = renderHook(() => usePresenceFeed(1, 5, false));
  select("a");
  await vi.advanceTimersByTimeAsync(300);
  expect(sent).toEqual([]);
  unmount();
});

test("initials", () => {
  expect(["Grace Hopper", "Ada", "张三", " "].map(initialsOf)).toEqual(["GH", "AD", "张三", ""]);
});

const grace = { id: 6, name: "Grace", node: null };

function move(x: number, target: EventTarget = document.body) {
  target.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: x, clientY: 0 }));
}

test("the pointer is sent at most five times a second, and only while others are there", async () => {
  const element = document.body.appendChild(document.createElement("div"));
  const toDocument = ({ x, y }: { x: number; y: number }) => ({ x: x + 0.4, y: y - 20 });
  setCanvas({ element: () => element, toDocument } as unknown as CanvasApi);
  const { unmount } = renderHook(() => useCursorFeed(1, true));
  move(1, element);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(cursors).toEqual([]);
  act(() => usePresence.getState().setPeople([grace]));
  for (let x = 0; x < 100; x += 1) {
    move(x, element);
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(cursors.length).toBeLessThanOrEqual(6);
  expect(cursors[0]).toEqual([0, -20]);
  await vi.advanceTimersByTimeAsync(300);
  expect(cursors.at(-1)).toEqual([99, -20]);
  // Outside of the canvas there is no place to show.
  move(7);
  await vi.advanceTimersByTimeAsync(300);
  expect(cursors.at(-1)).toBeNull();
  const n = cursors.length;
  unmount();
  move(8, element);
  await vi.advanceTimersByTimeAsync(300);
  expect(cursors).toHaveLength(n);
  setCanvas(null);
  element.remove();
});

test("a pointer that rests, or left, is not shown any more", async () => {
  const { unmount } = renderHook(() => usePresenceFeed(1, 5, false));
  const hear = (at: [number, number] | null) =>
    useLive.getState().receive({ type: "cursor", data: { user: 6, at } });
  hear([3, 4]);
  expect(usePresence.getState().cursors).toEqual({ 6: [3, 4] });
  await vi.advanceTimersByTimeAsync(7_000);
  hear([5, 4]);
  await vi.advanceTimersByTimeAsync(7_000);
  expect(usePresence.getState().cursors).toEqual({ 6: [5, 4] });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(usePresence.getState().cursors).toEqual({});
  hear([1, 1]);
  hear(null);
  expect(usePresence.getState().cursors).toEqual({});
  unmount();
});
