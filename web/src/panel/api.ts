// Requests to /panel/v1, typed by its description (npm run types). The session is a cookie that scripts cannot read; the header says that the request is the panel's own.

import type { components, paths } from "./api.gen";

/** Schemas are the described types, named by package and type of the server. */
export type Schemas = components["schemas"];

type Method = "get" | "post" | "put" | "patch" | "delete";

/** Filled is a described path with any values for its parameters. */
type Filled<P> = P extends `${infer A}{${string}}${infer B}` ? `${A}${string}${Filled<B>}` : P;
type Templates = { [P in keyof paths]: Filled<P> };
type With<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];

/** Path is the path of a route with a method. */
export type Path<M extends Method> = Templates[With<M>];

/** Route is the route of a path: the one that has its parameters at the same places. */
type Route<M extends Method, A> = {
  [P in With<M>]: A extends Templates[P] ? (Templates[P] extends A ? paths[P][M] : never) : never;
}[With<M>];

type Json = "application/json";

/** Gives is the response of a route. */
export type Gives<M extends Method, A> =
  Route<M, A> extends { responses: infer R }
    ? R extends { 200: { content: Record<Json, infer T> } }
      ? T
      : R extends { 201: { content: Record<Json, infer T> } }
        ? T
        : void
    : never;

/** Takes is the body of a request. */
export type Takes<M extends Method, A> =
  Route<M, A> extends { requestBody?: { content: Record<Json, infer T> } } ? T : unknown;

/** Asks is the query of a request. */
export type Asks<A> =
  Route<"get", A> extends { parameters: { query?: infer Q } }
    ? [Q] extends [undefined]
      ? Query
      : { [K in keyof Q]: Q[K] | null | "" }
    : Query;

/** Row is a row of a list. */
export type Row<A> = Gives<"get", A> extends { data: (infer T)[] } ? T : never;

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
    return this.detail("field");
  }
  /** detail is one of the details; "" where it is no text. */
  detail(name: string): string {
    const value = this.details[name];
    return typeof value === "string" ? value : "";
  }
  /** word is the name of the reason, such as changed_meanwhile; it is not to be shown. */
  get word(): string {
    return this.detail("reason");
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
export function address<A extends Path<"get">>(path: A, query: Asks<A> = {} as Asks<A>): string {
  return located(path, query);
}

/** located is the address of a route with any method. */
export function located(path: string, query: Query = {}): string {
  const q = new URLSearchParams();
  if (company) q.set("company", company);
  for (const [name, value] of Object.entries(query)) {
    for (const v of Array.isArray(value) ? value : [value])
      if (v !== undefined && v !== null && v !== "") q.append(name, String(v));
  }
  const text = q.toString();
  return "/panel/v1" + path + (text ? "?" + text : "");
}

export interface Options<Body = unknown> {
  query?: Query;
  body?: Body | FormData;
  signal?: AbortSignal;
  bearer?: string;
  headers?: Record<string, string>;
  /** link: the body has the secret of a link, and a 401 says that the link is no good, not that the session is over. */
  link?: boolean;
}

const patience = 30_000;

export async function send<M extends Method, A extends Path<M>>(
  method: M,
  path: A,
  o: Options<Takes<M, A>> = {},
): Promise<Gives<M, A>> {
  const headers: Record<string, string> = { "X-Carillon-Panel": "1", ...o.headers };
  if (o.body !== undefined && !(o.body instanceof FormData)) headers["Content-Type"] = "application/json";
  if (o.bearer) headers["Authorization"] = "Bearer " + o.bearer;
  const r = await fetch(located(path, o.query), {
    method: method.toUpperCase(),
    headers,
    credentials: "same-origin",
    signal: o.signal ?? AbortSignal.timeout(patience),
    body: o.body === undefined ? undefined : o.body instanceof FormData ? o.body : JSON.stringify(o.body),
  }).catch((e: unknown) => {
    throw o.signal?.aborted ? e : new Unreachable();
  });
  if (r.ok) return (r.status === 204 ? undefined : await r.json()) as Gives<M, A>;
  throw await problemOf(r, o.link);
}

/** sound asks for something that is heard. */
export async function sound<A extends Path<"post">>(
  path: A,
  body: Takes<"post", A>,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const r = await fetch(located(path), {
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

export const get = <A extends Path<"get">>(path: A, query?: Asks<A>, signal?: AbortSignal): Promise<Gives<"get", A>> =>
  send("get", path, { query: query as Query, signal });
export const post = <A extends Path<"post">>(path: A, body?: Takes<"post", A>): Promise<Gives<"post", A>> =>
  send("post", path, { body });
export const put = <A extends Path<"put">>(path: A, body?: Takes<"put", A>): Promise<Gives<"put", A>> =>
  send("put", path, { body });
export const patch = <A extends Path<"patch">>(path: A, body?: Takes<"patch", A>): Promise<Gives<"patch", A>> =>
  send("patch", path, { body });
export const del = <A extends Path<"delete">>(path: A): Promise<Gives<"delete", A>> => send("delete", path);

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

/** everything reads all pages of a list that a company has few of. */
export async function everything<A extends Path<"get">>(
  path: A,
  query: Asks<A> = {} as Asks<A>,
  signal?: AbortSignal,
): Promise<Row<A>[]> {
  const all: Row<A>[] = [];
  for (let cursor: string | undefined; all.length < 2000;) {
    const page = (await get(path, { ...query, limit: 100, cursor }, signal)) as unknown as Page<Row<A>>;
    all.push(...page.data);
    if (!page.next_cursor) break;
    cursor = page.next_cursor;
  }
  return all;
}
