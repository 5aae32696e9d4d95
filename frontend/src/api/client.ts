/** The API client: CSRF header, JSON, and errors as `ApiError` with the message of the server. */

import createClient from "openapi-fetch";
import type { paths } from "../schema";
import { diagnosticTexts, errorText, language, phrase, t } from "../ui/i18n";
import { type Cause, describeCause } from "./prose";

/** What is wrong in a field; of a list, by the number of the item. */
type Texts = string | readonly Texts[] | { readonly [part: string]: Texts };

function joined(texts: Texts): string {
  if (typeof texts === "string") return texts;
  return [...new Set(Object.values(texts).map(joined))].filter(Boolean).join(" ");
}

interface ErrorEnvelope {
  error?: {
    code?: string;
    message?: string;
    hint?: string | null;
    fields?: Record<string, Texts>;
    facts?: Record<string, string>;
    /** The reason that the message quotes. */
    cause?: Cause | null;
    [data: string]: unknown;
  };
}

/** A failed request, with a message, hint and field errors that can be shown. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status; 0 if the server did not respond. */
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  readonly fields: Record<string, string>;
  /** All fields of the error, e.g. both sides of a version conflict. */
  readonly data: Record<string, unknown>;

  constructor(status: number, envelope: ErrorEnvelope | null) {
    const error = envelope?.error ?? {};
    const code = error.code ?? "";
    const cause = error.cause ? describeCause(error.cause) : undefined;
    const known = errorText(code, { found: error.message, ...error, ...error.facts, cause });
    // The refusal of a schema is a diagnostic of the compiler.
    const found = error.facts === undefined ? undefined : diagnosticTexts(code, error.facts);
    super(known ?? found?.message ?? error.message ?? fallback(status));
    this.status = status;
    this.code = error.code ?? (status === 0 ? "unreachable" : "error");
    // The hint is in English, which must not follow a translated message.
    this.hint = (known === undefined ? (found?.hint ?? error.hint) : null) ?? null;
    this.fields = {};
    for (const [name, texts] of Object.entries(error.fields ?? {})) {
      const text = joined(texts);
      // Django translates its own field errors; those of other codes are replaced by the translated message.
      this.fields[name] = (this.code === "invalid" ? undefined : (known ?? found?.message)) ?? text;
    }
    this.data = error;
  }

  /** Message and hint. */
  get text(): string {
    return [this.message, this.hint].filter(Boolean).join(" ");
  }
}

/** Returns any failure of a request as an `ApiError`; other errors mean that the server did not respond. */
export function asApiError(failure: unknown): ApiError {
  return failure instanceof ApiError ? failure : new ApiError(0, null);
}

const GONE = phrase("This does not exist, or you do not have access to it.");
const FORBIDDEN = phrase("You are not signed in, or your role does not allow this.");
const TOO_MANY = phrase("Too many requests. Wait a moment and try again.");

function fallback(status: number): string {
  if (status === 0) return t("The server does not respond.");
  if (status === 401 || status === 403) return t(FORBIDDEN);
  if (status === 404) return t(GONE);
  if (status === 429) return t(TOO_MANY);
  if (status >= 500) return t("The server could not process this request.");
  return t("The server refused this request (status {status}).", { status });
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

/** The CSRF token from its cookie. If it is missing, as after a sign-in link, the session is requested first. */
async function csrfToken(): Promise<string | null> {
  if (!cookie("csrftoken")) {
    await globalThis.fetch(new Request(new URL("/api/session", location.href)));
  }
  return cookie("csrftoken") || null;
}

/** The typed client. It throws an `ApiError` for every response that is not a success. */
export const api = createClient<paths>({
  baseUrl: globalThis.location?.origin ?? "",
  credentials: "same-origin",
  // Looked up at each call, so that tests can replace it.
  fetch: (request: Request) => globalThis.fetch(request),
});

api.use({
  onRequest: async ({ request }) => {
    if (request.method !== "GET") {
      const token = await csrfToken();
      if (token !== null) request.headers.set("X-CSRFToken", token);
    }
    request.headers.set("Accept-Language", language() === "zh" ? "zh-hans" : "en");
    return request;
  },
  onResponse: async ({ response }) => {
    if (!response.ok) throw await refusal(response);
  },
  onError: ({ error }) => {
    if (error instanceof DOMException && error.name === "AbortError") return error;
    return asApiError(error);
  },
});

/** The body of a successful response. */
export async function answer<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}
