/** The API client: CSRF header, JSON, and errors as `ApiError` with the message of the server. */

import createClient from "openapi-fetch";
import type { paths } from "./schema";

interface ErrorEnvelope {
  error?: {
    code?: string;
    message?: string;
    hint?: string | null;
    fields?: Record<string, string[] | string>;
    [data: string]: unknown;
  };
}

/** What the server (or the lack of one) answered, ready to be shown. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status; 0 when the server did not answer at all. */
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  readonly fields: Record<string, string>;
  /** Everything else of the envelope, e.g. both sides of a version conflict. */
  readonly data: Record<string, unknown>;

  constructor(status: number, envelope: ErrorEnvelope | null) {
    const error = envelope?.error ?? {};
    super(error.message ?? fallback(status));
    this.status = status;
    this.code = error.code ?? (status === 0 ? "unreachable" : "error");
    this.hint = error.hint ?? (status === 0 ? "Retrying automatically." : null);
    this.fields = {};
    for (const [name, texts] of Object.entries(error.fields ?? {})) {
      this.fields[name] = Array.isArray(texts) ? texts.join(" ") : String(texts);
    }
    this.data = error;
  }
}

function fallback(status: number): string {
  if (status === 0) return "The server does not respond.";
  if (status === 401 || status === 403)
    return "This needs a sign-in, or a role that you do not have.";
  if (status === 404) return "There is nothing here, or it belongs to someone else.";
  if (status === 429) return "Too many requests: wait a moment.";
  if (status >= 500) return "The server failed at this request.";
  return `The server refused this request (status ${status}).`;
}

export function cookie(name: string, cookies: string = document.cookie): string | null {
  for (const pair of cookies.split("; ")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at) === name) return decodeURIComponent(pair.slice(at + 1));
  }
  return null;
}

let onSignedOut: () => void = () => undefined;

/** Called when the server reports that the session has ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

async function refusal(response: Response): Promise<ApiError> {
  const envelope = (await response.json().catch(() => null)) as ErrorEnvelope | null;
  if (response.status === 401) onSignedOut();
  return new ApiError(response.status, envelope);
}

/** The CSRF token that the server set. Without one, such as after a sign-in link, it is requested first. */
async function csrfToken(): Promise<string | null> {
  if (!cookie("csrftoken")) {
    await globalThis.fetch(new Request(new URL("/api/session", location.href)));
  }
  return cookie("csrftoken") || null;
}

/** The typed client. Whatever is no success is thrown as an `ApiError`. */
export const api = createClient<paths>({
  baseUrl: globalThis.location?.origin ?? "",
  credentials: "same-origin",
  // Looked up at each call, so that tests can put another one in its place.
  fetch: (request: Request) => globalThis.fetch(request),
});

api.use({
  onRequest: async ({ request }) => {
    if (request.method !== "GET") {
      const token = await csrfToken();
      if (token !== null) request.headers.set("X-CSRFToken", token);
    }
    return request;
  },
  onResponse: async ({ response }) => {
    if (!response.ok) throw await refusal(response);
  },
  onError: ({ error }) => {
    if (error instanceof DOMException && error.name === "AbortError") return error;
    return error instanceof ApiError ? error : new ApiError(0, null);
  },
});

/** The body of a successful answer. */
export async function answer<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}
