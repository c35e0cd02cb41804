// One stream of what happens in the company's inbox, for the whole page. Whoever shows something of it subscribes; it is open while
// somebody does. A broken stream is opened again after a pause and goes on behind the last event that came.
import { eventParser } from "../shared/events";
import { located, Problem, problemOf, type Query, type Path } from "./api";

export type LiveEvent = { event: string; data: unknown };
export type LiveState = "off" | "connecting" | "open" | "broken";

const silence = 50_000; // the server sends a comment every 20 seconds
const longest = 30_000;
const lasting = 10_000; // a stream that ends sooner is a failure

export class Live {
  state: LiveState = "off";
  private readonly listeners = new Set<(e: LiveEvent) => void>();
  private readonly watchers = new Set<() => void>();
  private last = "";
  private stop?: AbortController;
  private wake: () => void = () => {};

  constructor(
    private readonly path: Path<"get">,
    private readonly query: Query = {},
  ) {
    window.addEventListener("online", () => this.wake());
    window.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.wake();
    });
  }

  /** listen calls back for every event until the returned function is called. After `reset`, load everything again. */
  listen(on: (e: LiveEvent) => void): () => void {
    this.listeners.add(on);
    if (!this.stop) void this.run((this.stop = new AbortController()));
    return () => {
      this.listeners.delete(on);
      if (this.listeners.size === 0) this.close();
    };
  }

  /** seen is listen while somebody sees the window: a browser has few connections to a site. On the way back a `reset` comes first. */
  seen(on: (e: LiveEvent) => void): () => void {
    let leave = document.hidden ? undefined : this.listen(on);
    const changed = () => {
      if (document.hidden) {
        leave?.();
        leave = undefined;
        return;
      }
      if (leave) return;
      leave = this.listen(on);
      on({ event: "reset", data: {} });
    };
    document.addEventListener("visibilitychange", changed);
    return () => {
      leave?.();
      document.removeEventListener("visibilitychange", changed);
    };
  }

  /** watch calls back when the state changes. */
  watch(on: () => void): () => void {
    this.watchers.add(on);
    return () => this.watchers.delete(on);
  }

  /** restart leaves the stream, whose company may be another one now, and begins from here. */
  restart(): void {
    const going = this.listeners.size > 0;
    this.close();
    if (going) void this.run((this.stop = new AbortController()));
  }

  private close(): void {
    this.stop?.abort();
    this.stop = undefined;
    this.last = "";
    this.change("off");
  }

  private change(state: LiveState): void {
    if (this.state === state) return;
    this.state = state;
    this.watchers.forEach((w) => w());
  }

  private async run(stop: AbortController): Promise<void> {
    this.change("connecting");
    for (let pause = 0; !stop.signal.aborted;) {
      const begun = Date.now();
      let least = 0; // that the server asks to wait
      try {
        least = await this.follow(stop.signal, () => {
          pause = 0;
          if (!this.last) this.emit({ event: "reset", data: {} }); // what happened since a screen was loaded is nowhere
          this.change("open");
        });
        if (!least && Date.now() - begun > lasting) continue; // the server ends every stream after a while
      } catch (e) {
        if (stop.signal.aborted) return;
        if (e instanceof Problem && (e.status === 401 || e.status === 403)) {
          this.change("broken");
          return;
        }
        if (e instanceof Problem) least = e.retryAfter * 1000;
      }
      if (stop.signal.aborted) return;
      this.change("broken");
      pause = Math.min(longest, Math.max(500, pause * 2));
      await this.rest(Math.max(least, pause) * (0.5 + Math.random() / 2), stop.signal);
    }
  }

  /** rest waits, until the network is back or somebody looks at the window at the latest. */
  private rest(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener("abort", done);
      this.wake = done;
    });
  }

  /** follow returns, when the stream ends, how long the server asks to wait; 0: not at all. */
  private async follow(signal: AbortSignal, opened: () => void): Promise<number> {
    let wait = 0;
    const quiet = new AbortController();
    const both = AbortSignal.any([signal, quiet.signal]);
    const headers: Record<string, string> = { Accept: "text/event-stream", "X-Carillon-Panel": "1" };
    if (this.last) headers["Last-Event-ID"] = this.last;
    let timer = setTimeout(() => quiet.abort(), silence);
    try {
      const r = await fetch(located(this.path, this.query), { headers, signal: both, credentials: "same-origin" });
      if (!r.ok || !r.body) throw await problemOf(r);
      opened();
      const reader = r.body.getReader();
      const decoder = new TextDecoder();
      const parse = eventParser(
        (e) => {
          if (e.id) this.last = e.id;
          if (e.event === "reset") this.last = "";
          this.emit({ event: e.event, data: JSON.parse(e.data) });
        },
        (ms) => {
          wait = ms;
        },
      );
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return wait;
        clearTimeout(timer);
        timer = setTimeout(() => quiet.abort(), silence);
        parse(decoder.decode(value, { stream: true }));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  private emit(e: LiveEvent): void {
    for (const on of [...this.listeners]) on(e);
  }
}

/** inbox is the stream of the company's conversations. */
export const inbox = new Live("/inbox/events");

/** calls is the stream of the company's telephone calls. */
export const calls = new Live("/events", { topic: "calls" });

/** notifications is the stream of what becomes of the company's notifications. */
export const notifications = new Live("/events");
