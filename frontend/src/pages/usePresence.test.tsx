import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EMPTY_LIVE } from "../api/live";
import { initialsOf, usePresence } from "../designer/presence";
import { useDesigner } from "../designer/store";
import { useLive } from "../live/store";
import { usePresenceFeed } from "./usePresence";

let sent: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "PUT") sent.push((await request.json()).node);
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
