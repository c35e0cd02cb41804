import {
  Exchanged,
  fixed,
  missing,
  nobody,
  SignedIn,
  type Credential,
} from "./credentials.js";
import { Events, Suppressions, Templates, Users, Webhooks } from "./groups.js";
import { CarillonError, errorOf, Unreachable, unexpected } from "./errors.js";
import type * as T from "./types.js";

export interface Options {
  /** Calls the company's routes. The key is sent once an hour, in a header, for a token that stands in for it: it is in no address. */
  key?: string;
  /** Puts the key into the query of each address, as programs without this package do. */
  keyInQuery?: boolean;
  /** A company token, instead of a key, which is the caller's to renew. */
  companyToken?: string;
  /** Calls the user's routes: signs in with the first call, and renews the session. */
  email?: string;
  password?: string;
  /** A user's access token, which is the caller's to renew. */
  userToken?: string;
  /** Instead of the platform's fetch. */
  fetch?: typeof fetch;
  /**
   * Milliseconds of one attempt; of a recording, and of an upload from Node, those in which nothing moves; 60,000. Elsewhere an upload cannot be
   * followed, and has a second more for each 32 KiB of the file.
   */
  timeout?: number;
  retries?: Retries;
  /** Called before each repeat. */
  onRetry?: (pause: number, why: Error) => void;
  /** Waits for some milliseconds; for tests. */
  pause?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** How requests are repeated. */
export interface Retries {
  /** For failures; 3. */
  attempts?: number;
  /** For rate limits; 20. */
  limited?: number;
  /** Milliseconds of the longest pause; what asks for a longer one is thrown; 120,000. */
  longest?: number;
  /** Milliseconds of the pause after the first failure, doubled each time; 500. */
  first?: number;
}

export interface CallOptions {
  signal?: AbortSignal;
}

/** One request, for routes that have no method here. */
export interface Call extends CallOptions {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  as?: "company" | "user" | "nobody";
  idempotencyKey?: string;
  /** It can be repeated although it is no GET. */
  safe?: boolean;
  headers?: Record<string, string>;
  file?: Followed;
}

/** CarillonClient calls one installation. */
export class CarillonClient {
  readonly base: string;
  private readonly company: Credential;
  private readonly user: Credential;
  readonly templates = new Templates(this);
  readonly suppressions = new Suppressions(this);
  readonly events = new Events(this);
  readonly webhooks = new Webhooks(this);
  readonly users = new Users(this);

  constructor(
    base: string,
    private readonly options: Options = {},
  ) {
    const u = URL.canParse(base) ? new URL(base) : undefined;
    if (!u || !/^https?:$/.test(u.protocol) || u.username || u.search || u.hash)
      throw new TypeError(
        "the address of the program must look like http://127.0.0.1:8080",
      );
    this.base = base.replace(/\/+$/, "");
    const { key, keyInQuery, companyToken, email, password, userToken } =
      options;
    this.company = companyToken
      ? fixed({ token: companyToken })
      : key
        ? keyInQuery
          ? fixed({ key })
          : new Exchanged(key)
        : missing("an API key");
    this.user = userToken
      ? fixed({ token: userToken })
      : email && password
        ? new SignedIn(email, password)
        : missing("a user");
  }

  // Sending

  /**
   * send sends a template message to 1 to 100 recipients, now or at a time. It is accepted whole or refused whole. A repeat with the same
   * idempotencyKey within 24 hours gets the first response; without one a key is made, which protects against lost responses alone.
   */
  send(
    message: T.Message,
    o: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<T.Accepted> {
    return this.accept("notify", message, o);
  }

  /** call places a call that an agent talks in, now or at a time. */
  call(
    call: T.VoiceCall,
    o: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<T.Accepted> {
    return this.accept("notify/voice", call, o);
  }

  /**
   * answer sends a message to a person who wrote within the last 24 hours. For others the error has the code conflict, and its details have
   * window_closed_at.
   */
  answer(
    message: T.Answer,
    o: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<T.Answered> {
    return this.accept("messages", message, o);
  }

  /** answerState reads the state of an answer. */
  answerState(id: string, o: CallOptions = {}): Promise<T.AnswerState> {
    return this.request("GET", "messages/" + encodeURIComponent(id), o);
  }

  /** markRead marks a person's message and those before it as read, and may show the typing indicator. */
  async markRead(
    messageId: string,
    typing = false,
    o: CallOptions = {},
  ): Promise<void> {
    await this.request("POST", "messages", {
      ...o,
      safe: true,
      body: { type: "read", message_id: messageId, typing },
    });
  }

  private async accept<R>(
    path: string,
    body: unknown,
    o: CallOptions & { idempotencyKey?: string },
  ): Promise<R & { replayed: boolean }> {
    const { value, response } = await this.exchange<R>("POST", path, {
      ...o,
      body,
      idempotencyKey: o.idempotencyKey ?? "client-" + crypto.randomUUID(),
    });
    return {
      ...value,
      replayed: response.headers.get("Idempotent-Replayed") === "true",
    };
  }

  /** notification reads a notification and all of its recipients. */
  async notification(id: string, o: CallOptions = {}): Promise<T.Notification> {
    const path = "notify/" + encodeURIComponent(id);
    const n = await this.request<T.Notification>("GET", path, {
      ...o,
      query: { limit: 100 },
    });
    let cursor = n.next_cursor;
    while (cursor) {
      // a page ends early where it is large
      const more: T.Notification = await this.request<T.Notification>(
        "GET",
        path,
        { ...o, query: { limit: 100, cursor } },
      );
      n.recipients.push(...more.recipients);
      cursor = more.next_cursor;
    }
    delete n.next_cursor;
    return n;
  }

  /** notifications are those that a filter selects, the newest first. */
  notifications(
    filter: T.Filter = {},
    o: CallOptions = {},
  ): AsyncGenerator<T.Summary> {
    const { pageSize, from, to, ...rest } = filter;
    return this.pages(
      "notify",
      { ...rest, from: instant(from), to: instant(to), limit: pageSize ?? 100 },
      o,
    );
  }

  /** cancel cancels what has not been sent of a notification. */
  cancel(id: string, o: CallOptions = {}): Promise<T.Canceled> {
    return this.request("DELETE", "notify/" + encodeURIComponent(id), o);
  }

  /** hangUp cancels calls, and ends those that are under way. */
  hangUp(id: string, o: CallOptions = {}): Promise<T.Canceled> {
    return this.request("DELETE", "notify/" + encodeURIComponent(id), {
      ...o,
      query: { hangup: "true" },
    });
  }

  /** move sends a scheduled notification at another time: RFC 3339, or a local time in a zone. */
  move(
    id: string,
    at: string,
    zone?: string,
    o: CallOptions = {},
  ): Promise<T.Moved> {
    return this.request("PATCH", "notify/" + encodeURIComponent(id), {
      ...o,
      safe: true,
      body: { datetime_sending: at, ...(zone && { timezone: zone }) },
    });
  }

  /** callDetails reads a call, with what was said. */
  callDetails(id: string, o: CallOptions = {}): Promise<T.CallDetails> {
    return this.request("GET", "calls/" + encodeURIComponent(id), o);
  }

  /** recording is the recording of a call, a WAV file. It may take as long as it goes on coming. */
  async recording(id: string, o: CallOptions = {}): Promise<ArrayBuffer> {
    return (
      await this.exchange(
        "GET",
        `calls/${encodeURIComponent(id)}/recording`,
        o,
        "bytes",
      )
    ).value as ArrayBuffer;
  }

  /** upload keeps a file for headers of notifications. It may take as long as it goes on being sent (Options.timeout). */
  upload(name: string, file: Blob, o: CallOptions = {}): Promise<T.Media> {
    return this.request("POST", "media", {
      ...o,
      file: new Followed([file], name, { type: file.type }),
    });
  }

  // Account

  /** usage is today's use of the quota. */
  usage(o: CallOptions = {}): Promise<T.Usage> {
    return this.request("GET", "usage", o);
  }

  // Requests

  /** pages are the rows of a list, read page by page. */
  async *pages<R>(
    path: string,
    query: Record<string, string | number | undefined>,
    o: CallOptions,
  ): AsyncGenerator<R> {
    let cursor: string | undefined;
    do {
      const page: { data: R[]; next_cursor?: string | null } =
        await this.request("GET", path, { ...o, query: { ...query, cursor } });
      yield* page.data;
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
  }

  /** request sends a request to a route below /functions/v1, and repeats it where that is allowed. */
  async request<R>(method: string, path: string, call: Call = {}): Promise<R> {
    return (await this.exchange<R>(method, path, call)).value;
  }

  private async exchange<R>(
    method: string,
    path: string,
    call: Call,
    as: "json" | "bytes" = "json",
  ): Promise<{ value: R; response: Response }> {
    const credential = { company: this.company, user: this.user, nobody }[
      call.as ?? "company"
    ];
    let renewed = false;
    for (let attempt = 1; ; attempt++) {
      const held = await credential.get(this, call.signal); // repeats by itself what may be: a wrong password is not tried twice
      try {
        return await this.once<R>(method, path, call, held, as);
      } catch (e) {
        if (call.signal?.aborted) throw call.signal.reason;
        if (
          e instanceof CarillonError &&
          e.code === "unauthorized" &&
          !renewed &&
          credential.renew(held.token)
        ) {
          renewed = true;
          attempt--;
          continue;
        }
        const pause = this.pauseAfter(e, method, call, attempt);
        if (pause === undefined) throw e;
        this.options.onRetry?.(pause, e as Error);
        await (this.options.pause ?? wait)(pause, call.signal);
      }
    }
  }

  private async once<R>(
    method: string,
    path: string,
    call: Call,
    { key, token }: { key?: string; token?: string },
    as: "json" | "bytes",
  ): Promise<{ value: R; response: Response }> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) query.set(name, String(value));
    if (key) query.set("access_key", key);
    const headers: Record<string, string> = {
      Accept: "application/json",
      ...call.headers,
    };
    if (token) headers["Authorization"] = "Bearer " + token;
    if (call.idempotencyKey) headers["Idempotency-Key"] = call.idempotencyKey;
    const late = new Patience(this.options.timeout ?? 60_000);
    let body: string | FormData | undefined;
    if (call.file) {
      call.file.moved = () => late.again();
      late.again((call.file.size / slowest) * 1000);
      body = new FormData();
      body.set("file", call.file);
    }
    if (call.body !== undefined) {
      headers["Content-Type"] = "application/json";
      body = JSON.stringify(call.body);
    }
    let response: Response, read: string | ArrayBuffer;
    try {
      response = await (this.options.fetch ?? fetch)(
        `${this.base}/functions/v1/${path}${query.size > 0 ? "?" + query : ""}`,
        {
          method,
          headers,
          redirect: "manual",
          signal: call.signal
            ? AbortSignal.any([call.signal, late.signal])
            : late.signal,
          ...(body !== undefined && { body }),
        },
      );
      read =
        as === "bytes" && response.ok
          ? await bytes(response, late)
          : await text(response);
    } catch (e) {
      throw new Unreachable(this.base, e);
    } finally {
      late.end();
    }
    if (!response.ok) throw errorOf(response, read as string);
    if (as === "bytes" || response.status === 204)
      return { value: read as R, response };
    try {
      return { value: JSON.parse(read as string) as R, response };
    } catch {
      throw unexpected(response);
    }
  }

  /** pauseAfter is how long to wait before a repeat; undefined: it is not repeated. What may have taken effect is only where that is safe. */
  private pauseAfter(
    e: unknown,
    method: string,
    call: Call,
    attempt: number,
  ): number | undefined {
    const {
      attempts = 3,
      limited = 20,
      longest = 120_000,
      first = 500,
    } = this.options.retries ?? {};
    const safe =
      method === "GET" ||
      call.idempotencyKey !== undefined ||
      call.safe === true;
    const backoff =
      first * 2 ** Math.min(attempt - 1, 10) * (1 + Math.random() / 4);
    if (e instanceof Unreachable)
      return safe && attempt < attempts ? backoff : undefined;
    if (!(e instanceof CarillonError)) return undefined;
    const after = (e.retryAfter ?? 0) * 1000;
    if (after > longest) return undefined;
    if (e.status === 429)
      return attempt < limited ? Math.max(after, 1000) : undefined;
    const again =
      e.status === 503 ||
      e.code === "idempotency_in_progress" || // it was not begun
      (safe && [408, 500, 502, 504].includes(e.status));
    return again && attempt < attempts ? Math.max(after, backoff) : undefined;
  }
}

const maxResponse = 32 << 20; // bytes, but for recordings

const slowest = 32 << 10; // bytes a second of an upload that cannot be followed

const piece = 64 << 10; // bytes

/** Followed is a file that reports each piece of it that is taken. In Node fetch takes the next one when the last was sent; browsers read files by themselves. */
class Followed extends File {
  moved: () => void = () => {};

  override stream(): ReturnType<File["stream"]> {
    const reader = super.stream().getReader();
    let rest: Uint8Array<ArrayBuffer> = new Uint8Array();
    return new ReadableStream({
      pull: async (to) => {
        this.moved();
        if (rest.length === 0) {
          const { done, value } = await reader.read();
          if (done) return to.close();
          rest = value;
        }
        to.enqueue(rest.subarray(0, piece));
        rest = rest.subarray(piece);
      },
      cancel: (why) => reader.cancel(why),
    });
  }
}

/** Patience ends an attempt that takes too long. */
class Patience {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ended = false;

  constructor(private readonly ms: number) {
    this.again();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** again restarts the bound, with some milliseconds more. */
  again(more = 0): void {
    clearTimeout(this.timer);
    if (this.ended) return; // a response may come before all of the request was sent
    this.timer = setTimeout(
      () =>
        this.controller.abort(
          new DOMException("the response took too long", "TimeoutError"),
        ),
      this.ms + more,
    );
  }

  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
  }
}

/** bytes reads a response of any length, for as long as it goes on coming. */
async function bytes(response: Response, late: Patience): Promise<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = [],
    reader = response.body?.getReader();
  for (;;) {
    late.again();
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) return new Blob(parts).arrayBuffer();
    parts.push(value);
  }
}

/** text reads a response of bounded length. */
async function text(response: Response): Promise<string> {
  const parts: string[] = [],
    decoder = new TextDecoder();
  let size = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) return parts.join("") + decoder.decode();
    size += value.length;
    if (size > maxResponse) {
      await reader?.cancel();
      return ""; // it is no response of the program
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
}

function instant(at: Date | string | undefined): string | undefined {
  return at instanceof Date ? at.toISOString() : at;
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}
