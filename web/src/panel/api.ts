// Requests to /panel/v1. The session is a cookie that scripts cannot read; the header says that the request is the panel's own.

import { sentenceOf } from "./ui/rules";

/** Problem is an answer that is an error. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly requestId = "",
    readonly retryAfter = 0,
  ) {
    super(message);
  }

  /** field is the name of the field that the request had wrong; "" where it is no question of a field. */
  get field(): string {
    return typeof this.details.field === "string" ? this.details.field : "";
  }
  /** reason is why, in the language of the page. */
  get reason(): string {
    return sentenceOf(this.details);
  }
}

/** Unreachable means that no answer came. */
export class Unreachable extends Error {
  constructor() {
    super("unreachable");
  }
}

export type Query = Record<string, string | number | boolean | undefined | null | string[]>;

let company = "";
let signedOut: () => void = () => {};
let denied: () => void = () => {};

/** setCompany names the company of all requests from now on; "": the only one. */
export function setCompany(id: string): void {
  company = id;
}

/** onSignedOut is called when the session turns out to be over. */
export function onSignedOut(f: () => void): void {
  signedOut = f;
}

/** onDenied is called when something is refused that the page took for allowed: the role may have changed. */
export function onDenied(f: () => void): void {
  denied = f;
}

/** address is that of a route, with its query and the company. */
export function address(path: string, query: Query = {}): string {
  const q = new URLSearchParams();
  if (company) q.set("company", company);
  for (const [name, value] of Object.entries(query)) {
    for (const v of Array.isArray(value) ? value : [value])
      if (v !== undefined && v !== null && v !== "") q.append(name, String(v));
  }
  const text = q.toString();
  return "/panel/v1" + path + (text ? "?" + text : "");
}

export interface Options {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  bearer?: string;
  headers?: Record<string, string>;
  /** link: the body has the secret of a link, and a 401 says that the link is no good, not that the session is over. */
  link?: boolean;
}

const patience = 30_000;

export async function send<T>(method: string, path: string, o: Options = {}): Promise<T> {
  const headers: Record<string, string> = { "X-Carillon-Panel": "1", ...o.headers };
  if (o.body !== undefined && !(o.body instanceof FormData)) headers["Content-Type"] = "application/json";
  if (o.bearer) headers["Authorization"] = "Bearer " + o.bearer;
  const r = await fetch(address(path, o.query), {
    method,
    headers,
    credentials: "same-origin",
    signal: o.signal ?? AbortSignal.timeout(patience),
    body: o.body === undefined ? undefined : o.body instanceof FormData ? o.body : JSON.stringify(o.body),
  }).catch((e: unknown) => {
    throw o.signal?.aborted ? e : new Unreachable();
  });
  if (r.ok) return (r.status === 204 ? undefined : await r.json()) as T;
  throw await problemOf(r, o.link);
}

/** sound asks for something that is heard. */
export async function sound(path: string, body: unknown, signal: AbortSignal): Promise<ArrayBuffer> {
  const r = await fetch(address(path), {
    method: "POST",
    headers: { "X-Carillon-Panel": "1", "Content-Type": "application/json" },
    credentials: "same-origin",
    signal,
    body: JSON.stringify(body),
  }).catch((e: unknown) => {
    throw signal.aborted ? e : new Unreachable();
  });
  if (!r.ok) throw await problemOf(r);
  return r.arrayBuffer();
}

/** problemOf reads the error in a response. */
export async function problemOf(r: Response, link = false): Promise<Problem> {
  const e = (await r.json().catch(() => ({}))) as {
    error?: string;
    message?: string;
    details?: Record<string, unknown>;
    request_id?: string;
    retry_after?: number;
  };
  if (r.status === 401 && !link) signedOut();
  if (r.status === 403) denied();
  return new Problem(
    r.status,
    e.error ?? "",
    e.message ?? r.statusText,
    e.details ?? {},
    e.request_id ?? r.headers.get("X-Request-Id") ?? "",
    e.retry_after ?? 0,
  );
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  send<T>("GET", path, { query, signal });
export const post = <T = void>(path: string, body?: unknown): Promise<T> => send<T>("POST", path, { body });
export const put = <T = void>(path: string, body?: unknown): Promise<T> => send<T>("PUT", path, { body });
export const patch = <T = void>(path: string, body?: unknown): Promise<T> => send<T>("PATCH", path, { body });
export const del = (path: string): Promise<void> => send<void>("DELETE", path);

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

/** everything reads all pages of a list that a company has few of. */
export async function everything<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | undefined; all.length < 2000;) {
    const page: Page<T> = await get(path, { ...query, limit: 100, cursor }, signal);
    all.push(...page.data);
    if (!page.next_cursor) break;
    cursor = page.next_cursor;
  }
  return all;
}
