import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Comment } from "../api/types";
import { CommentBadge } from "../canvas/CommentBadge";
import { useComments } from "../designer/comments";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { useLive } from "../live/store";
import { open } from "../testing/rendering";
import { CommentsFeed } from "./CommentsFeed";
import { CommentsPanel } from "./CommentsPanel";
import { Mentions } from "./Mentions";

const AT = "2026-01-01T00:00:00Z";
const ANSWER = {
  id: 8,
  text: "Ask @ada. And @nobody",
  author: "Me",
  author_id: 1,
  created_at: AT,
  edited_at: null,
  mentions: ["ada"],
};
const THREAD: Comment = {
  ...ANSWER,
  id: 7,
  text: "Why 10?",
  author: "Ada",
  author_id: 2,
  mentions: [],
  node: "big",
  node_label: "Large",
  resolved_at: null,
  resolved_by: null,
  replies: [ANSWER],
};

let threads: Comment[];
let asked: { method: string; path: string; body: unknown }[];
let status: number;

beforeEach(() => {
  threads = [THREAD];
  asked = [];
  status = 200;
  useDesigner.setState({
    topologyId: 3,
    document: {
      format: "millrace.topology/1",
      name: "Orders",
      nodes: [{ id: "big", kind: "filter", label: "Large orders", params: {} }],
      edges: [],
    },
    selection: { nodes: [], edges: [] },
  });
  const list = (results: readonly unknown[]) =>
    Response.json({ count: results.length, next: null, previous: null, results });
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    asked.push({ method: request.method, path, body: text === "" ? null : JSON.parse(text) });
    if (path === "/api/session") {
      const user = { id: 1, username: "me", display_name: "Me" };
      return Response.json({ user, workspaces: [], has_password: true, installation_admin: false });
    }
    if (path.endsWith("/members")) {
      return list([
        { id: 1, user: { id: 2, username: "ada", display_name: "Ada" }, role: "editor" },
      ]);
    }
    if (path.endsWith("/mentions")) {
      return list([
        { ...ANSWER, topology: 3, topology_name: "Orders", node: "big", node_label: "Large" },
      ]);
    }
    if (status !== 200) {
      return Response.json({ error: { code: "x", message: "Refused." } }, { status });
    }
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    return request.method === "GET" ? list(threads) : Response.json(THREAD);
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  useDesigner.getState().close();
});

const show = (rights: { editor?: boolean; operator?: boolean } = {}) =>
  open(<CommentsPanel ws="main" topology={3} editor operator={false} {...rights} />);
const sent = (method: string) => asked.find((each) => each.method === method);

test("a comment on the selected node mentions a member of the menu", async () => {
  show();
  expect(await screen.findByText("Select a node to comment on it.")).toBeTruthy();
  act(() => useDesigner.setState({ selection: { nodes: ["big"], edges: [] } }));
  const field = await screen.findByLabelText("Comment on Large orders");
  fireEvent.change(field, { target: { value: "Look," } });
  fireEvent.click(screen.getByTestId("mention"));
  fireEvent.click(await screen.findByRole("menuitem", { name: "Ada" }));
  expect((field as HTMLTextAreaElement).value).toBe("Look, @ada ");
  fireEvent.click(screen.getByTestId("comment-send"));
  await waitFor(() => expect((field as HTMLTextAreaElement).value).toBe(""));
  expect(sent("POST")?.body).toEqual({
    node: "big",
    node_label: "Large orders",
    text: "Look, @ada",
    reply_to: null,
  });
});

test("a mention is completed while it is typed, at the start of a word", async () => {
  show();
  act(() => useDesigner.setState({ selection: { nodes: ["big"], edges: [] } }));
  const field = await screen.findByLabelText<HTMLTextAreaElement>("Comment on Large orders");
  const type = (value: string, caret: number) => {
    field.setSelectionRange(caret, caret);
    fireEvent.change(field, { target: { value, selectionStart: caret, selectionEnd: caret } });
  };
  type("Ask @a", 6);
  const option = await screen.findByRole("option", { name: "Ada" });
  fireEvent.keyDown(field, { key: "Escape", code: "Escape" });
  await waitFor(() => expect(screen.queryByRole("option")).toBeNull());
  expect(option).toBeTruthy();
  type("Ask @ad", 7);
  fireEvent.click(await screen.findByRole("option", { name: "Ada" }));
  expect(field.value).toBe("Ask @ada ");
  type("mail me@a", 9);
  expect(screen.queryByRole("option")).toBeNull();
  fireEvent.change(field, { target: { value: "" } });
});

test("a comment that is not sent yet is kept when another node is selected", async () => {
  show();
  const select = (...nodes: string[]) =>
    act(() => useDesigner.setState({ selection: { nodes, edges: [] } }));
  select("big");
  const field = await screen.findByLabelText("Comment on Large orders");
  fireEvent.change(field, { target: { value: "Not yet" } });
  select();
  expect(screen.queryByTestId("comment-text")).toBeNull();
  select("big");
  const again = await screen.findByLabelText<HTMLTextAreaElement>("Comment on Large orders");
  expect(again.value).toBe("Not yet");
  fireEvent.change(again, { target: { value: "" } });
});

test("a thread shows the node's present label, its answers and mentions of members", async () => {
  show();
  const thread = await screen.findByTestId("thread");
  expect(thread.querySelector("mark")?.textContent).toBe("@ada");
  expect(thread.textContent).toContain("Ask @ada. And @nobody");
  fireEvent.click(screen.getByRole("button", { name: "Large orders" }));
  expect(useDesigner.getState().selection.nodes).toEqual(["big"]);
});

test("the comment of a deleted node stays in the list under its last label", async () => {
  threads = [{ ...THREAD, node: "gone" }];
  show();
  expect(await screen.findByText("Large (deleted)")).toBeTruthy();
});

test("a thread is answered, resolved and opened again", async () => {
  threads = [THREAD, { ...THREAD, id: 9, resolved_at: AT, resolved_by: "Ada" }];
  show();
  fireEvent.click(await screen.findByTestId("answer"));
  fireEvent.change(screen.getByLabelText("Your answer"), { target: { value: "Because" } });
  fireEvent.click(screen.getByTestId("comment-send"));
  await waitFor(() => expect(sent("POST")?.body).toMatchObject({ text: "Because", reply_to: 7 }));
  fireEvent.click(screen.getByTestId("resolve"));
  await waitFor(() => expect(sent("PATCH")?.body).toEqual({ resolved: true }));
  fireEvent.click(screen.getByText("Resolved: 1"));
  expect(await screen.findByText("resolved by Ada")).toBeTruthy();
  asked = [];
  fireEvent.click(screen.getByTestId("resolve"));
  await waitFor(() => expect(sent("PATCH")?.body).toEqual({ resolved: false }));
});

test("one's own comment is edited, and deleted after a question", async () => {
  show();
  fireEvent.click(await screen.findByTestId("edit-comment"));
  fireEvent.change(screen.getByLabelText("Your comment"), { target: { value: "Never mind" } });
  fireEvent.click(screen.getByTestId("comment-send"));
  await waitFor(() => expect(sent("PATCH")?.path).toBe("/api/topologies/3/comments/8"));
  expect(sent("PATCH")?.body).toEqual({ text: "Never mind" });
  fireEvent.click(await screen.findByTestId("delete-comment"));
  fireEvent.click(await screen.findByTestId("delete-comment-now"));
  await waitFor(() => expect(sent("DELETE")?.path).toBe("/api/topologies/3/comments/8"));
});

test("viewers read, and nobody writes what the server refuses", async () => {
  show({ editor: false });
  await screen.findByTestId("thread");
  for (const id of ["answer", "resolve", "edit-comment", "comment-text"]) {
    expect(screen.queryByTestId(id)).toBeNull();
  }
  cleanup();
  act(() => useDesigner.setState({ selection: { nodes: ["big"], edges: [] } }));
  show();
  await screen.findByTestId("thread");
  status = 409;
  fireEvent.change(screen.getByTestId("comment-text"), { target: { value: "x" } });
  fireEvent.click(screen.getByTestId("comment-send"));
  expect(await screen.findByText("Refused.")).toBeTruthy();
});

test("without comments the panel says so, and a failure can be tried again", async () => {
  threads = [];
  show();
  expect(await screen.findByText("No open comments")).toBeTruthy();
  cleanup();
  status = 500;
  show();
  expect(await screen.findByText("Try again")).toBeTruthy();
});

test("the canvas counts open comments, after each change, and opens them", async () => {
  threads = [THREAD, { ...THREAD, id: 9 }, { ...THREAD, id: 10, resolved_at: AT }];
  open(
    <>
      <CommentsFeed topology={3} />
      <CommentBadge node="big" />
      <CommentBadge node="other" />
    </>,
  );
  const badge = await screen.findByRole("button", { name: "2 open comments" });
  fireEvent.click(badge);
  expect(useView.getState().bottomTab).toBe("comments");
  expect(useDesigner.getState().selection.nodes).toEqual(["big"]);
  threads = [THREAD];
  act(() => useLive.getState().receive({ type: "comments.changed", data: { topology: 3 } }));
  expect(await screen.findByRole("button", { name: "1 open comment" })).toBeTruthy();
  cleanup();
  expect(useComments.getState().open).toEqual({});
});

test("comments that mention the reader lead to their node", async () => {
  open(<Mentions ws="main" />);
  const link = await screen.findByRole("link", { name: "Orders · Large" });
  expect(link.getAttribute("href")).toBe("/w/main/t/3?comments=big");
});
