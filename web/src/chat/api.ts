// Requests to Carillon. A request that may have been carried out is repeated with the same client id, never blindly.
import { eventParser, type StreamEvent } from "../shared/events";

export { eventParser, type StreamEvent };

/** Refused is an answer that repeating does not change. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

/** Away means that Carillon cannot be reached, or asks to wait. */
export class Away extends Error {
  constructor(readonly wait = 0) {
    super("not reachable");
  }
}

const timeout = 20_000;

export class Api {
  token = "";
  constructor(private readonly base: string) {}

  async post<T>(path: string, body: unknown): Promise<T> {
    return this.send<T>("POST", path, JSON.stringify(body), "application/json");
  }

  /** upload sends a file; fetch does not say how far it has come. */
  upload<T>(path: string, file: File, progress: (share: number) => void): Promise<T> {
    const form = new FormData();
    form.append("file", file, file.name);
    return new Promise((resolve, reject) => {
      const r = new XMLHttpRequest();
      r.open("POST", this.base + path);
      r.setRequestHeader("Authorization", "Bearer " + this.token);
      r.timeout = 180_000;
      r.upload.onprogress = (e) => {
        if (e.lengthComputable) progress(e.loaded / e.total);
      };
      r.onload = () => {
        let body: { message?: string; details?: Record<string, unknown>; retry_after?: number } = {};
        try {
          body = JSON.parse(r.responseText);
        } catch {
          /* not Carillon's */
        }
        if (r.status === 200) resolve(body as T);
        else
          reject(
            r.status === 429 || r.status >= 500
              ? new Away((body.retry_after ?? 0) * 1000)
              : new Refused(r.status, body.message ?? r.statusText, body.details),
          );
      };
      r.onerror = r.ontimeout = r.onabort = () => reject(new Away());
      r.send(form);
    });
  }

  private async send<T>(method: string, path: string, body: BodyInit, type: string): Promise<T> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), timeout);
    try {
      const headers: Record<string, string> = { "Content-Type": type };
      if (this.token) headers["Authorization"] = "Bearer " + this.token;
      const r = await fetch(this.base + path, {
        method,
        headers,
        body,
        signal: stop.signal,
        credentials: "omit",
      }).catch(() => {
        throw new Away();
      });
      if (r.ok) return (r.status === 204 ? undefined : await r.json()) as T;
      const e = await r.json().catch(() => ({}));
      if (r.status === 429 || r.status >= 500) throw new Away((e.retry_after ?? 0) * 1000);
      throw new Refused(r.status, e.message ?? r.statusText, e.details ?? {});
    } finally {
      clearTimeout(timer);
    }
  }

  /** stream calls back for every event until it ends; it resolves when the connection ends, and rejects as post does, also where it
   * ended because the visitor's other pages need the stream. */
  async stream(
    path: string,
    after: number,
    signal: AbortSignal,
    on: (event: StreamEvent) => void,
    opened: () => void,
  ): Promise<void> {
    const r = await fetch(this.base + path, {
      headers: { Authorization: "Bearer " + this.token, Accept: "text/event-stream", "Last-Event-ID": String(after) },
      signal,
      credentials: "omit",
    }).catch(() => {
      throw new Away();
    });
    if (!r.ok || !r.body) {
      const e = (await r.json().catch(() => ({}))) as { retry_after?: number };
      if (r.status === 429 || r.status >= 500) throw new Away((e.retry_after ?? 0) * 1000);
      throw new Refused(r.status, r.statusText);
    }
    opened();
    const reader = r.body.getReader();
    const decoder = new TextDecoder();
    let wait = 0;
    const parse = eventParser(on, (ms) => {
      wait = ms;
    });
    for (;;) {
      const { done, value } = await silence(reader.read(), 50_000).catch(() => {
        void reader.cancel().catch(() => {});
        throw new Away();
      });
      if (done && wait) throw new Away(wait);
      if (done) return;
      parse(decoder.decode(value, { stream: true }));
    }
  }
}

/** silence rejects when nothing came for so long: the server sends a comment every 20 seconds. */
function silence<T>(p: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Away()), ms);
    p.then(
      (v) => {
        clearTimeout(timer);
        resolve(v);
      },
      (e: unknown) => {
        clearTimeout(timer);
        reject(e as Error);
      },
    );
  });
}
