/** One door to the API: CSRF header, JSON, and errors as `ApiError` with the server's own words. */

export interface ErrorEnvelope {
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
    this.hint = error.hint ?? (status === 0 ? "It is tried again by itself." : null);
    this.fields = {};
    for (const [name, texts] of Object.entries(error.fields ?? {})) {
      this.fields[name] = Array.isArray(texts) ? texts.join(" ") : String(texts);
    }
    this.data = error;
  }
}

function fallback(status: number): string {
  if (status === 0) return "The server does not answer.";
  if (status === 401 || status === 403)
    return "This needs a sign-in, or a role that you do not have.";
  if (status === 404) return "There is nothing here, or it belongs to someone else.";
  if (status === 429) return "Too many requests: wait a moment.";
  if (status >= 500) return "The server failed at this request.";
  return `The server refused this request (status ${status}).`;
}

type Query = Record<string, string | number | boolean | null | undefined>;

export interface RequestOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

export function cookie(name: string, cookies: string = document.cookie): string | null {
  for (const pair of cookies.split("; ")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at) === name) return decodeURIComponent(pair.slice(at + 1));
  }
  return null;
}

function address(path: string, query: Query | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

let onSignedOut: () => void = () => undefined;

/** Called whenever the server says that nobody is signed in (a session that ran out, for one). */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export async function send(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  const token = method === "GET" ? null : cookie("csrftoken");
  if (token !== null) headers["X-CSRFToken"] = token;
  let response: Response;
  try {
    response = await fetch(address(path, options.query), {
      method,
      headers,
      credentials: "same-origin",
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, null);
  }
  if (!response.ok) {
    const envelope = (await response.json().catch(() => null)) as ErrorEnvelope | null;
    if (response.status === 401) onSignedOut();
    throw new ApiError(response.status, envelope);
  }
  return response;
}

export async function call<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  const response = await send(method, path, options);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}
