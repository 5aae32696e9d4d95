import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listTokens } from "../api/accountCalls";
import { Paged, usePages } from "../frame/paging";
import { open } from "../testing/rendering";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { InstallationPage } from "./InstallationPage";
import { Members } from "./Members";
import { Tokens } from "./Tokens";

interface Row {
  readonly id: number;
  readonly name: string;
}

/** The rows of which the test's server returns a page. */
let rows: Row[];
let asked: URL[];

const SHAPES: Readonly<Record<string, (row: Row) => unknown>> = {
  "/api/workspaces/main/members": ({ id, name }) => ({
    id,
    user: { id, username: name, display_name: name },
    role: "viewer",
    created_at: "2026-01-01T00:00:00Z",
    created_here: true,
  }),
  "/api/tokens": ({ id, name }) => ({
    id,
    name,
    prefix: `mr_${id}`,
    created_at: "2026-01-01T00:00:00Z",
    expires_at: null,
  }),
  "/api/installation/workspaces": ({ id, name }) => ({ id, slug: name, name, topic_prefixes: [] }),
};

function answer(url: URL, method: string): Response {
  if (method === "DELETE") {
    rows = rows.filter(({ id }) => !url.pathname.endsWith(`/${id}`));
    return new Response(null, { status: 204 });
  }
  if (url.pathname === "/api/session") {
    return Response.json({
      user: { id: 0, username: "me", display_name: "Me" },
      workspaces: [{ id: 1, slug: "main", name: "Main", role: "admin" }],
      has_password: true,
      installation_admin: true,
    });
  }
  const shape = SHAPES[url.pathname];
  const found = rows.filter(({ name }) => name.includes(url.searchParams.get("search") ?? ""));
  const size = Number(url.searchParams.get("page_size"));
  const begin = (Number(url.searchParams.get("page")) - 1) * size;
  if (begin > 0 && begin >= found.length) {
    return Response.json(
      { error: { code: "not_found", message: "Invalid page." } },
      { status: 404 },
    );
  }
  // happy-dom renders rows slowly: two per page are enough.
  const results =
    shape === undefined
      ? []
      : found
          .slice(begin, begin + size)
          .slice(0, 2)
          .map(shape);
  const count = shape === undefined ? 0 : found.length;
  return Response.json({ count, next: null, previous: null, results });
}

beforeEach(() => {
  rows = Array.from({ length: 26 }, (_, n) => ({ id: n + 1, name: `row-${n + 1}` }));
  asked = [];
  // biome-ignore lint/suspicious/noDocumentCookie: the client reads the token there
  document.cookie = "csrftoken=x";
  vi.stubGlobal("fetch", async (request: Request) => {
    const url = new URL(request.url);
    asked.push(url);
    return answer(url, request.method);
  });
});

afterEach(() => {
  cleanup();
  setLanguage("en");
  vi.unstubAllGlobals();
});

const LISTS = [
  {
    list: "members",
    of: "member",
    path: "/api/workspaces/main/members",
    page: <Members ws="main" admin={false} />,
  },
  { list: "tokens", of: "token", path: "/api/tokens", page: <Tokens /> },
  {
    list: "workspaces",
    of: "workspace",
    path: "/api/installation/workspaces",
    page: <InstallationPage />,
  },
];

test.each(LISTS)("$list are shown in pages and searched on the server", async (each) => {
  open(each.page);
  await screen.findAllByText(/^row-1\b/);
  expect(screen.queryByText(/^row-26\b/)).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "2" }));
  await screen.findAllByText(/^row-26\b/);
  expect(screen.queryByText(/^row-1\b/)).toBeNull();
  const search = screen.getByLabelText(`Search ${each.list}`);
  fireEvent.change(search, { target: { value: "row-7" } });
  await waitFor(() => expect(screen.queryByRole("button", { name: "2" })).toBeNull());
  expect(screen.getAllByText(/^row-7\b/)).toBeTruthy();
  expect(screen.queryByText(/^row-1\b/)).toBeNull();
  fireEvent.change(search, { target: { value: "nothing" } });
  await screen.findByText(`No ${each.of} matches “nothing”.`);
  const sent = asked.filter(({ pathname }) => pathname === each.path);
  expect(sent.map(({ searchParams: at }) => `${at.get("search")} ${at.get("page")}`)).toEqual(
    expect.arrayContaining([" 1", " 2", "row-7 1", "nothing 1"]),
  );
});

test("a page that is gone with its last row gives way to the one before it", async () => {
  open(<Tokens />);
  await screen.findByText(/^row-1\b/);
  fireEvent.click(screen.getByRole("button", { name: "2" }));
  await screen.findByText(/^row-26\b/);
  fireEvent.click(screen.getByTestId("revoke-token"));
  fireEvent.click(await screen.findByTestId("revoke-token-now"));
  await screen.findByText(/^row-1\b/);
  await waitFor(() => expect(screen.queryByRole("button", { name: "2" })).toBeNull());
  expect(rows).toHaveLength(25);
  expect(screen.queryByRole("alert")).toBeNull();
});

/** A list whose page is in the address. */
function Listed() {
  const paging = usePages(["tokens"], listTokens, { inAddress: true });
  return (
    <Paged paging={paging} none="">
      {([row]) => <p>{row?.name}</p>}
    </Paged>
  );
}

test("the page of a list is in the address, and is shown again from there", async () => {
  open(<Listed />);
  await screen.findByText("row-1");
  fireEvent.click(screen.getByRole("button", { name: "2" }));
  await screen.findByText("row-26");
  expect(location.search).toBe("?page=2");
  cleanup();
  open(<Listed />);
  await screen.findByText("row-26");
  fireEvent.click(screen.getByRole("button", { name: "1" }));
  await screen.findByText("row-1");
  expect(location.search).toBe("");
});

test("someone without tokens reads how to make one and has nothing to search", async () => {
  rows = [];
  open(<Tokens />);
  await screen.findByText("No tokens");
  expect(screen.queryByLabelText("Search tokens")).toBeNull();
});

test("an empty search says so in Chinese", async () => {
  rows = rows.slice(0, 1);
  await fetchTexts("zh");
  setLanguage("zh");
  open(<Members ws="main" admin />);
  fireEvent.change(screen.getByLabelText("搜索成员"), { target: { value: "nothing" } });
  await screen.findByText("没有匹配“nothing”的成员。");
});
