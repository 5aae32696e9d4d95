// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TopologyDocument } from "../graph/document";
import { aDocument } from "../testing/samples";
import { DraftCollision, DraftKeeper, type DraftState } from "./draft";
import { keepUnsent, readUnsent } from "./unsent";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function keeper(put: (document: TopologyDocument) => Promise<unknown>) {
  const states: DraftState[] = [];
  return { states, keep: new DraftKeeper({ put, onState: (state) => states.push(state) }) };
}

const named = (name: string) => aDocument({ name });

test("many changes in a row are sent once, the last one", async () => {
  const put = vi.fn(async () => undefined);
  const { keep, states } = keeper(put);
  keep.changed(named("a"));
  await vi.advanceTimersByTimeAsync(300);
  keep.changed(named("b"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(put.mock.calls).toEqual([[named("b")]]);
  expect(states.at(-1)).toBe("saved");
});

test("what could not be sent is tried again until it could", async () => {
  let down = true;
  const put = vi.fn(async () => {
    if (down) throw new Error("no server");
  });
  const { keep, states } = keeper(put);
  keep.changed(named("a"));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(states.at(-1)).toBe("failed");
  expect(keep.dirty).toBe(true);
  down = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(states.at(-1)).toBe("saved");
  expect(keep.dirty).toBe(false);
});

test("what could not be sent is sent at once when the server is back", async () => {
  let down = true;
  const put = vi.fn(async () => {
    if (down) throw new Error("no server");
  });
  const { keep, states } = keeper(put);
  keep.changed(named("a"));
  await vi.advanceTimersByTimeAsync(40_000);
  expect(states.at(-1)).toBe("failed");
  down = false;
  const calls = put.mock.calls.length;
  keep.retry();
  await vi.advanceTimersByTimeAsync(10);
  expect([put.mock.calls.length, states.at(-1)]).toEqual([calls + 1, "saved"]);
  keep.retry();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(put).toHaveBeenCalledTimes(calls + 1);
});

test("a change while one is being sent follows it, never overtakes it", async () => {
  const sent: string[] = [];
  let release: () => void = () => undefined;
  const { keep } = keeper(
    (document) =>
      new Promise<void>((resolve) => {
        sent.push(document.name);
        release = resolve;
      }),
  );
  keep.changed(named("a"));
  await vi.advanceTimersByTimeAsync(800);
  keep.changed(named("b"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).toEqual(["a"]);
  release();
  await vi.advanceTimersByTimeAsync(800);
  expect(sent).toEqual(["a", "b"]);
});

test("after a collision with another window's draft nothing is sent until the person has chosen", async () => {
  let collides = true;
  const put = vi.fn(async (_document: TopologyDocument) => {
    if (collides) throw new DraftCollision();
  });
  const { keep, states } = keeper(put);
  keep.changed(named("a"));
  await vi.advanceTimersByTimeAsync(60_000);
  keep.changed(named("b"));
  await vi.advanceTimersByTimeAsync(60_000);
  await keep.flush();
  expect(put).toHaveBeenCalledOnce();
  expect(states.at(-1)).toBe("conflict");
  expect(keep.dirty).toBe(true);
  collides = false;
  keep.resume();
  await vi.advanceTimersByTimeAsync(10);
  expect(put).toHaveBeenLastCalledWith(named("b"));
  expect(states.at(-1)).toBe("saved");
});

test("leaving sends at once what waits", async () => {
  const put = vi.fn(async () => undefined);
  const { keep } = keeper(put);
  keep.changed(named("a"));
  await keep.flush();
  expect(put).toHaveBeenCalledOnce();
});

test("a saved version takes the place of the draft", async () => {
  const put = vi.fn(async () => undefined);
  const { keep } = keeper(put);
  keep.changed(named("a"));
  keep.forget();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(put).not.toHaveBeenCalled();
});

test("what the server does not have yet is kept here until it has it", async () => {
  let down = true;
  const kept: (TopologyDocument | null)[] = [];
  const keep = new DraftKeeper({
    put: async () => {
      if (down) throw new Error("no server");
    },
    onState: () => undefined,
    onUnsent: (document) => kept.push(document),
  });
  keep.changed(named("a"));
  expect(kept).toEqual([named("a")]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(kept).toEqual([named("a")]);
  down = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(kept).toEqual([named("a"), null]);
});

test("of a page that died only its own reader finds the changes again", () => {
  keepUnsent(1, 7, { document: named("a"), revision: "r1" });
  expect(readUnsent(1, 7)).toEqual({ document: named("a"), revision: "r1" });
  expect(readUnsent(2, 7)).toBeNull();
  expect(readUnsent(1, 8)).toBeNull();
  keepUnsent(1, 7, null);
  expect(readUnsent(1, 7)).toBeNull();
  localStorage.setItem("millrace.unsent.1.7", "{cut off");
  expect(readUnsent(1, 7)).toBeNull();
});
