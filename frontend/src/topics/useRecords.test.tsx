import { act, renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { questionOf } from "./records";
import { useRecords } from "./useRecords";

type Page = { records: { offset: number }[]; scanned: number; stopped: string; next: string };

let pages: (Page | Promise<never>)[] = [];
const asked = vi.fn();
vi.mock("../api/topicCalls", () => ({
  listRecords: async (_ws: string, _topic: string, query: { cursor?: string }) => {
    asked(query.cursor ?? null);
    return pages.shift();
  },
}));

const page = (found: number, next: string, stopped = "full"): Page => ({
  records: Array.from({ length: found }, (_, offset) => ({ offset })),
  ...{ scanned: 1_000, stopped, next },
});
const question = (where: string) =>
  questionOf({ search: new URLSearchParams({ where }).toString() });

beforeEach(() => asked.mockClear());
afterEach(() => {
  pages = [];
});

test("a search by expression goes on until it has enough, and shows how far it is", async () => {
  pages = [page(1, "0:1000"), page(0, "0:2000"), page(60, "0:3000"), page(1, "0:4000")];
  const asking = question("value.n > 3");
  const { result } = renderHook(() => useRecords("main", "orders", asking, false));
  await waitFor(() => expect(result.current.busy).toBe(false));
  expect(asked.mock.calls.flat()).toEqual([null, "0:1000", "0:2000"]);
  expect([result.current.rows.length, result.current.scanned]).toEqual([61, 3_000]);
  act(() => result.current.more());
  await waitFor(() => expect(asked).toHaveBeenLastCalledWith("0:3000"));
});

test("it ends with the topic, and without an expression a page is a page", async () => {
  pages = [page(0, "0:1000"), page(0, "0:1200", "end")];
  const asking = question("false");
  const { result } = renderHook(() => useRecords("main", "orders", asking, false));
  await waitFor(() => expect(result.current.stopped).toBe("end"));
  expect(asked).toHaveBeenCalledTimes(2);
  asked.mockClear();
  pages = [page(0, "0:1000"), page(0, "0:1200")];
  const plain = question("");
  const other = renderHook(() => useRecords("main", "orders", plain, false));
  await waitFor(() => expect(other.result.current.busy).toBe(false));
  expect(asked).toHaveBeenCalledTimes(1);
});

test("a search is cancelled, and goes on from there when it is asked to", async () => {
  pages = [page(2, "0:1000"), new Promise<never>(() => undefined), page(1, "0:2000", "end")];
  const asking = question("value.n > 3");
  const { result } = renderHook(() => useRecords("main", "orders", asking, false));
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(2));
  expect(result.current.busy).toBe(true);
  act(() => result.current.cancel());
  expect([result.current.busy, result.current.scanned]).toEqual([false, 1_000]);
  act(() => result.current.more());
  await waitFor(() => expect(result.current.stopped).toBe("end"));
  expect(asked.mock.calls.flat()).toEqual([null, "0:1000", "0:1000"]);
  expect(result.current.rows.length).toBe(3);
});
