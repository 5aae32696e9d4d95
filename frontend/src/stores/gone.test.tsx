import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useLive } from "../live/store";
import { open } from "../testing/rendering";
import { aDeployment, aRun } from "../testing/samples";
import { StatePanel } from "./StatePanel";

const store = (id: string) => ({
  ...{ id, name: id, kind: "key_value", key: "STRING", values: ["BIGINT"] },
  ...{ windows: null, rows: 1 },
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  useLive.getState().reset();
});

test("a store that a new version no longer has gives way to one that there is", async () => {
  // Until the first batch of the new version, the list is that of the version before.
  const lists = [["before"], ["before"], ["now"]];
  const page = { rows: [], next: null, batch: 1, committed_at: "2026-01-01T00:00:00Z", tasks: [] };
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url, "http://localhost").pathname;
    if (path.endsWith("/stores")) {
      const names = lists.length > 1 ? lists.shift() : lists[0];
      return Response.json({ stores: names?.map(store), as_of: null });
    }
    return path.endsWith("/now")
      ? Response.json({ page })
      : Response.json({ error: { code: "no_store", message: "No store." } }, { status: 404 });
  });
  useLive.setState({ deployment: aDeployment({ run: aRun() }) });
  open(<StatePanel />);
  await screen.findByText("This store is not there any more");
  expect(screen.queryByText("Go to the topologies")).toBeNull();
  await waitFor(
    () => expect(screen.getByTestId<HTMLInputElement>("state-store").value).toBe("now"),
    { timeout: 15_000 },
  );
});
