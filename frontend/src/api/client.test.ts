// @vitest-environment happy-dom
import { afterEach, describe, expect, test, vi } from "vitest";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { getSession, signOut } from "./accountCalls";
import { ApiError, cookie, whenSignedOut } from "./client";

function answering(status: number, body: unknown) {
  const asked = vi.fn(async (_request: Request) => Response.json(body, { status }));
  vi.stubGlobal("fetch", asked);
  return asked;
}

afterEach(() => vi.unstubAllGlobals());

describe("the API client", () => {
  test("gives the server's own words as an error", async () => {
    answering(409, {
      error: {
        code: "version_conflict",
        message: "Ada saved.",
        hint: "Merge.",
        theirs: { number: 4 },
      },
    });
    const error = await getSession().catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 409,
      code: "version_conflict",
      message: "Ada saved.",
      hint: "Merge.",
      data: { theirs: { number: 4 } },
    });
  });

  test("says so when the server does not answer at all", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("Failed to fetch");
    });
    await expect(getSession()).rejects.toMatchObject({ status: 0, code: "unreachable" });
  });

  test("says what is known in the language of the page, and the rest in the server's words", async () => {
    try {
      setLanguage("zh");
      await fetchTexts("zh");
      const answer = (code: string) =>
        new ApiError(409, { error: { code, message: "Ada saved.", hint: "Merge." } });
      expect(answer("not_found")).toMatchObject({
        message: "这里什么都没有，或者它属于别人。",
        hint: null,
      });
      expect(answer("of_a_newer_server")).toMatchObject({ message: "Ada saved.", hint: "Merge." });
      expect(answer("kafka_refused").text).toBe("Ada saved. Merge.");
      const refused = { code: "kafka_refused", message: "Kafka rejected it: No.", reason: "No." };
      expect(new ApiError(400, { error: refused }).text).toBe("Kafka 拒绝了此请求：No.");
      const role = { code: "role_too_small", message: "This needs…", needed: "operator" };
      expect(new ApiError(403, { error: role }).message).toContain("操作员");
      const taken = { code: "name_taken", fields: { name: ["This name is taken."] } };
      expect(new ApiError(409, { error: taken }).fields.name).toBe(
        "这个名称已被使用。请选择其他名称。",
      );
      const listed = { code: "invalid", fields: { mail: { 1: ["Wrong."], 2: ["Wrong."] } } };
      expect(new ApiError(400, { error: listed }).fields.mail).toBe("Wrong.");
      const field = { code: "invalid", found: "name: 必填。", fields: { name: ["必填。"] } };
      expect(new ApiError(400, { error: field })).toMatchObject({
        message: "请求无效：name: 必填。",
        fields: { name: "必填。" },
      });
      // A refused schema is a diagnostic of the compiler and is translated like one.
      const schema = {
        ...{ code: "format_bad_schema", message: "The avro schema…", hint: "Correct it." },
        ...{ facts: { format: "avro", reason: "it is not JSON" }, fields: { value: ["The…"] } },
      };
      expect(new ApiError(400, { error: schema })).toMatchObject({
        message: "avro 模式无效：it is not JSON。",
        hint: "请更正模式。",
        fields: { value: "avro 模式无效：it is not JSON。" },
      });
      expect(new ApiError(0, null).message).toBe("服务器没有响应。");
    } finally {
      setLanguage("en");
    }
  });

  test("says so when what answers is no API", async () => {
    vi.stubGlobal("fetch", async () => new Response("<h1>Bad gateway</h1>", { status: 502 }));
    await expect(getSession()).rejects.toMatchObject({ status: 502 });
  });

  test("sends the CSRF token with everything that changes something", async () => {
    // biome-ignore lint/suspicious/noDocumentCookie: the cookie is what is tested
    document.cookie = "csrftoken=secret";
    const asked = answering(200, {});
    await signOut();
    expect(asked.mock.calls[0]?.[0].headers.get("X-CSRFToken")).toBe("secret");
    await getSession();
    expect(asked.mock.calls[1]?.[0].headers.get("X-CSRFToken")).toBeNull();
  });

  test("fetches a CSRF token first when there is none", async () => {
    // biome-ignore lint/suspicious/noDocumentCookie: the cookie is what is tested
    document.cookie = "csrftoken=; max-age=0";
    const asked = vi.fn(async (request: Request) => {
      // biome-ignore lint/suspicious/noDocumentCookie: the server sets it with its answer
      if (request.method === "GET") document.cookie = "csrftoken=fresh";
      return Response.json({});
    });
    vi.stubGlobal("fetch", asked);
    await signOut();
    expect(asked.mock.calls.map(([request]) => request.method)).toEqual(["GET", "DELETE"]);
    expect(asked.mock.calls[1]?.[0].headers.get("X-CSRFToken")).toBe("fresh");
  });

  test("notifies the page when the session has ended", async () => {
    const listener = vi.fn();
    whenSignedOut(listener);
    answering(401, { error: { code: "not_authenticated", message: "Sign in." } });
    await getSession().catch(() => undefined);
    expect(listener).toHaveBeenCalledOnce();
  });
});

test("a cookie is found by its whole name", () => {
  expect(cookie("csrftoken", "xcsrftoken=1; csrftoken=a%20b")).toBe("a b");
  expect(cookie("token", "csrftoken=1")).toBeNull();
});
