import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type {
  OutsideChange,
  OutsideChangeDetail,
  Repository,
  TopologyDocument,
} from "../api/types";
import { open } from "../testing/rendering";
import { RepositorySection } from "./RepositorySection";
import { changeText, failureText } from "./words";

const REPOSITORY: Repository = {
  url: "/srv/git/orders.git",
  branch: "main",
  folder: "",
  review: false,
  head: "a".repeat(40),
  checked_at: "2026-01-01T00:00:00Z",
  failure: null,
  working: false,
  retry_at: null,
  waiting: 0,
  refused: [],
};
const CHANGE: OutsideChange = {
  folder: "Orders",
  kind: "changed",
  topology: 2,
  topology_name: "Orders",
  deleted_by: null,
  deleted_at: null,
  commit: "b".repeat(40),
  author: "Grace",
  message: "Add x",
  at: 1_767_225_600,
  document_changed: true,
  program_changed: false,
  tests: ["late.json"],
  conflict: false,
  problem: null,
  latest_version: 2,
};
const DENIED = {
  code: "git_denied",
  message: "The repository refused access.",
  hint: "Set its password.",
  facts: {},
};

function document(...nodes: readonly [id: string, predicate: string][]): TopologyDocument {
  return {
    format: "millrace.topology/1",
    name: "Orders",
    nodes: nodes.map(([id, predicate]) => ({ id, kind: "filter", params: { predicate } })),
    edges: [],
  };
}

function version(number: number, saved: TopologyDocument) {
  const rest = { message: "", name: null, author: "Me", created_at: "2026-01-01T00:00:00Z" };
  const people = { author_id: 1, approved_by: [] };
  return { number, hash: "", commit: null, ...rest, ...people, document: saved };
}

let roots: string[];
let repository: Repository | null;
let changes: OutsideChange[];
let detail: Partial<OutsideChangeDetail>;
let asked: { method: string; path: string; body: unknown }[];
let failing: boolean;

beforeEach(() => {
  roots = ["/srv/git"];
  repository = { ...REPOSITORY };
  changes = [];
  detail = {};
  asked = [];
  failing = false;
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname.replace("/api/workspaces/main/repository", "");
    const body = request.method === "GET" ? null : await request.json().catch(() => null);
    asked.push({ method: request.method, path, body });
    if (failing) return Response.json({ error: { code: "x", message: "No." } }, { status: 500 });
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    if (path === "/changes") return Response.json(changes);
    if (path.startsWith("/changes/")) {
      const found = { ...changes[0], base: null, mine: null, theirs: null, ...detail };
      return Response.json(request.method === "GET" ? found : { topology: 2, version: 3 });
    }
    return Response.json({ roots, repository });
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = (admin = true) => open(<RepositorySection ws="main" admin={admin} editor />);
const sent = (method: string, path: string) =>
  asked.find((each) => each.method === method && each.path === path)?.body;

test("where no repository is permitted, the setting is named", async () => {
  [roots, repository] = [[], null];
  show();
  expect(await screen.findByText(/MILLRACE_GIT_ROOTS/)).toBeTruthy();
  expect(screen.queryByTestId("bind")).toBeNull();
});

test("only an admin chooses a repository, with branch, folder and review", async () => {
  repository = null;
  show(false);
  expect(await screen.findByText("An admin of this workspace can choose one.")).toBeTruthy();
  cleanup();
  show();
  fireEvent.click(await screen.findByTestId("bind"));
  fireEvent.change(await screen.findByTestId("repository-url"), {
    target: { value: " /srv/git/a.git " },
  });
  fireEvent.change(screen.getByLabelText(/^Branch/), { target: { value: "trunk" } });
  fireEvent.change(screen.getByLabelText("Folder in the repository"), {
    target: { value: "flows" },
  });
  fireEvent.click(screen.getByTestId("repository-review"));
  fireEvent.click(screen.getByTestId("bind-now"));
  await waitFor(() =>
    expect(sent("PUT", "")).toEqual({
      url: "/srv/git/a.git",
      branch: "trunk",
      folder: "flows",
      review: true,
    }),
  );
});

test("a repository shows its state, pulls, and can be removed", async () => {
  repository = { ...REPOSITORY, waiting: 2, review: true, folder: "flows" };
  show();
  const state = await screen.findByTestId("repository-state");
  expect(state.textContent).toContain("2 versions not committed yet");
  expect(screen.getByText("branches for review, beside main · folder flows")).toBeTruthy();
  expect(await screen.findByTestId("no-changes")).toBeTruthy();
  fireEvent.click(screen.getByTestId("sync"));
  await waitFor(() => expect(sent("POST", "/sync")).toEqual({ accept_history: false }));
  fireEvent.click(screen.getByTestId("unbind"));
  fireEvent.click(await screen.findByTestId("unbind-now"));
  await waitFor(() => expect(asked.some((each) => each.method === "DELETE")).toBe(true));
});

test("a failure is shown with its next attempt, a rewritten history with its acceptance", async () => {
  const history = { ...DENIED, code: "git_history", message: "Rewritten." };
  repository = { ...REPOSITORY, failure: DENIED, retry_at: "2026-01-01T10:00:00Z" };
  show();
  expect(
    await screen.findByText(/refused access\. Set its password\. Next attempt at/),
  ).toBeTruthy();
  expect(screen.queryByTestId("accept-history")).toBeNull();
  cleanup();
  const refused = [{ name: "Orders", topology: 2, topology_name: "Orders", failure: DENIED }];
  repository = { ...REPOSITORY, failure: history, refused };
  show();
  expect(await screen.findByText("Orders")).toBeTruthy();
  fireEvent.click(screen.getByTestId("accept-history"));
  await waitFor(() => expect(sent("POST", "/sync")).toEqual({ accept_history: true }));
});

test("a server that fails is shown and asked again", async () => {
  failing = true;
  show();
  const again = await screen.findByText("Try again");
  failing = false;
  fireEvent.click(again);
  expect(await screen.findByTestId("repository-state")).toBeTruthy();
});

test("a change is looked at and becomes the next version", async () => {
  changes = [CHANGE];
  detail = {
    base: version(2, document(["a", "x"])),
    mine: version(2, document(["a", "x"])),
    theirs: document(["a", "x"], ["b", "y"]),
  };
  show();
  expect(await screen.findByText("document, 1 test")).toBeTruthy();
  fireEvent.click(screen.getByText("Show…"));
  expect(await screen.findByText("Tests: late.json")).toBeTruthy();
  const action = screen.getByTestId("take-change");
  expect(action.textContent).toBe("Save as version 3");
  fireEvent.click(action);
  await waitFor(() =>
    expect(sent("POST", "/changes/Orders")).toEqual({ commit: CHANGE.commit, base_version: 2 }),
  );
});

test("a topology that was deleted here is named as that and restored", async () => {
  const gone: OutsideChange = {
    ...CHANGE,
    kind: "deleted",
    topology: null,
    latest_version: null,
    deleted_by: "Ada",
    deleted_at: 1_767_225_600,
  };
  changes = [gone];
  detail = { ...gone, base: null, mine: null, theirs: document(["a", "x"]) };
  show();
  expect(await screen.findByText("deleted here")).toBeTruthy();
  fireEvent.click(screen.getByText("Show…"));
  expect(await screen.findByText(/^Ada deleted this topology here on /)).toBeTruthy();
  const action = screen.getByTestId("take-change");
  expect(action.textContent).toBe("Restore this topology");
  fireEvent.click(action);
  await waitFor(() =>
    expect(sent("POST", "/changes/Orders")).toEqual({ commit: CHANGE.commit, base_version: null }),
  );
});

test("a change on both sides is decided node by node", async () => {
  changes = [{ ...CHANGE, conflict: true }];
  detail = {
    base: version(1, document(["a", "x"], ["b", "x"])),
    mine: version(2, document(["a", "mine"], ["b", "x"])),
    theirs: document(["a", "theirs"], ["b", "theirs"]),
  };
  show();
  fireEvent.click(await screen.findByText("Show…"));
  const save = await screen.findByTestId("take-merged");
  expect((save as HTMLButtonElement).disabled).toBe(true);
  const chosen = screen.getAllByRole("radio").map((each) => each.getAttribute("aria-checked"));
  expect(chosen, "nothing is chosen where both changed it").toEqual([
    ...["false", "false"],
    ...["false", "true"],
  ]);
  fireEvent.click(screen.getAllByText("Mine: changed")[0] as HTMLElement);
  await waitFor(() => expect((save as HTMLButtonElement).disabled).toBe(false));
  fireEvent.click(save);
  await waitFor(() => {
    const { document: merged } = sent("POST", "/changes/Orders") as { document: TopologyDocument };
    expect(merged.nodes.map((node) => node.params?.predicate)).toEqual(["mine", "theirs"]);
  });
});

test.each(["keep-mine", "take-theirs"])(
  "of both sides one can be taken as a whole: %s",
  async (id) => {
    changes = [{ ...CHANGE, conflict: true }];
    const [mine, theirs] = [document(["a", "mine"]), document(["a", "theirs"])];
    detail = { base: null, mine: version(2, mine), theirs };
    show();
    fireEvent.click(await screen.findByText("Show…"));
    fireEvent.click(await screen.findByTestId(id));
    await waitFor(() => {
      const body = sent("POST", "/changes/Orders") as { document: TopologyDocument };
      expect(body.document).toEqual(id === "keep-mine" ? mine : theirs);
    });
  },
);

test("what happened outside is in words", () => {
  expect(changeText({ ...CHANGE, kind: "new" })).toBe("new topology");
  expect(changeText({ ...CHANGE, kind: "removed" })).toBe("folder removed");
  expect(changeText({ ...CHANGE, kind: "unreadable" })).toBe("unreadable document");
  const program = { ...CHANGE, document_changed: false, program_changed: true, tests: [] };
  expect(changeText(program)).toBe("program only");
  expect(changeText({ ...program, program_changed: false })).toBe("files");
  expect(failureText(DENIED)).toBe("The repository refused access. Set its password.");
});
