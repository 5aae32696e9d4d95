import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { editor } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { emptyDocument } from "../graph/document";
import { useLive } from "../live/store";
import { open } from "../testing/rendering";
import { beginEditing, endEditing, flushDraft, useEditing } from "../versions/editing";
import { Banner } from "./Banner";

let answers: { draft: () => Response };
let created: unknown[];

beforeEach(() => {
  created = [];
  answers = { draft: () => new Response(null, { status: 503 }) };
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "PUT") return answers.draft();
    if (request.method !== "POST") return Response.json({});
    created.push(await request.json());
    return Response.json({ id: 77 }, { status: 201 });
  });
  const edit = editor(emptyDocument("Orders"));
  beginEditing({
    ...{ user: 1, ws: "main", topology: useDesigner.getState().topologyId ?? 0, name: "Orders" },
    ...{ document: edit.document(), revision: null, baseVersion: null, baseDocument: null },
  });
  edit.drop("filter");
});

afterEach(() => {
  cleanup();
  endEditing();
  useLive.getState().reset();
  sessionStorage.clear();
  localStorage.clear();
  vi.unstubAllGlobals();
});

const refused = (status: number, code: string, message: string) => () =>
  Response.json({ error: { code, message } }, { status });

test("what was drawn in a topology that somebody deleted can be created again", async () => {
  answers.draft = refused(404, "not_found", "There is nothing here.");
  open(<Banner editor />, "/w/main/t/1");
  useLive.getState().receive({ type: "topology.deleted", data: { id: 1 } });
  fireEvent.click(await screen.findByRole("button", { name: "Create it again" }));
  await waitFor(() => expect(created).toHaveLength(1));
  expect(created[0]).toMatchObject({ name: "Orders", document: { nodes: [{ kind: "filter" }] } });
});

test("a draft for which there is no topology any more says so, and is kept", async () => {
  answers.draft = refused(404, "not_found", "There is nothing here.");
  await flushDraft();
  open(<Banner editor={false} />);
  await screen.findByText(/was deleted, or you have lost access to it/);
  expect(screen.queryByRole("button", { name: "Create it again" })).toBeNull();
  screen.getByRole("button", { name: "Download the document as JSON" });
});

test("a draft that is refused says why, one without an answer does not", async () => {
  answers.draft = refused(409, "quota_reached", "This workspace has 500 MB of drafts.");
  await flushDraft();
  open(<Banner editor />);
  await screen.findByText(/^This workspace has 500 MB of drafts\. Your last changes are not saved/);
  answers.draft = () => new Response(null, { status: 503 });
  await flushDraft();
  await waitFor(() => expect(useEditing.getState().refusal).toBeNull());
  await screen.findByText(/^Your last changes are not saved yet/);
});
