// The life of the page: session, stream, what waits to be sent. Components show its model.
import { Api, Away, Refused, type StreamEvent } from "./api";
import type { Customer, Host, WidgetData } from "./host";
import {
  empty,
  lastSeq,
  reduce,
  unread,
  type Change,
  type ChatFile,
  type Model,
  type Score,
  type Session,
  type State,
  type Turn,
  type Unsent,
} from "./model";
import { newID, Outbox } from "./store";

const typingFor = 6_000;

export class Chat {
  model: Model = empty;
  limits = { text: 4000, file: 10 << 20, types: [] as string[] };
  onTurn: (turn: Turn) => void = () => {};
  private listeners = new Set<() => void>();
  private identity?: string;
  private stop = new AbortController();
  private pause = 0;
  private sending = false;
  private quiet?: ReturnType<typeof setTimeout>;
  private typedAt = 0;
  private visible = true;
  private readonly outbox: Outbox;

  constructor(
    private readonly api: Api,
    private readonly host: Host,
    readonly widget: WidgetData,
    private readonly customer: Customer,
    private readonly language: string,
  ) {
    this.identity = customer.identity;
    this.outbox = new Outbox("carillon.outbox." + widget.id + "." + customer.id);
    host.onUser = (identity) => {
      this.identity = identity;
      this.restart();
    };
    host.onOpen = (open) => {
      this.visible = open;
      this.look();
    };
    window.addEventListener("online", () => this.wake());
    window.addEventListener("offline", () => this.change({ do: "connected", connected: false }));
    document.addEventListener("visibilitychange", () => {
      this.look();
      if (!document.hidden) this.wake();
    });
    this.change({ do: "outbox", unsent: this.outbox.load() });
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** offer shows what the voice widget of the page is good for. */
  offer(voice: WidgetData["voice"]): void {
    this.widget.voice = voice;
    this.listeners.forEach((l) => l());
  }

  private change(c: Change): void {
    this.model = reduce(this.model, c);
    if (c.do === "say" || c.do === "drop" || c.do === "refused" || c.do === "turn") this.outbox.save(this.model.unsent);
    if (c.do === "turn" || c.do === "seen" || c.do === "session")
      this.host.tell("unread", { count: unread(this.model) });
    this.listeners.forEach((l) => l());
  }

  /** run follows the conversation until the page goes. */
  async run(): Promise<void> {
    for (;;) {
      this.stop = new AbortController();
      try {
        if (!this.api.token) await this.open();
        await this.follow(this.stop.signal);
        this.pause = 0;
      } catch (e) {
        if (this.stop.signal.aborted) {
          /* on purpose */
        } else if (e instanceof Refused && e.status === 401 && this.api.token)
          this.api.token = ""; // a session lasts an hour
        else if (e instanceof Refused && e.status === 401 && this.identity) {
          // it has expired, or was never good: the site may give another
          this.host.tell("identity");
          this.change({ do: "connected", connected: false });
          await this.rest(10_000);
        } else if (e instanceof Refused && this.model.phase !== "ready") {
          this.change({ do: "failed", problem: e.message });
          return;
        } else {
          this.change(
            this.model.phase === "ready" ? { do: "connected", connected: false } : { do: "failed", problem: "" },
          );
          await this.rest(e instanceof Away ? e.wait : 0);
        }
      }
    }
  }

  /** rest waits longer after every failure, at most 30 seconds, or until the network is back or somebody looks at the page. */
  private rest(least: number): Promise<void> {
    this.pause = Math.min(30_000, Math.max(500, this.pause * 2));
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(least, this.pause * (0.5 + Math.random() / 2)));
      this.wake = () => {
        clearTimeout(timer);
        this.pause = 0;
        resolve();
      };
    });
  }
  private wake: () => void = () => {};

  private restart(): void {
    this.api.token = "";
    this.stop.abort();
    this.wake();
  }

  private async open(anew = false): Promise<void> {
    const session = await this.api.post<Session>("/functions/v1/chat/session", {
      widget_id: this.widget.id,
      customer_id: this.customer.id,
      lang: this.language,
      page: this.customer.page,
      identity: this.identity,
      anew: anew || undefined,
    });
    this.api.token = session.token;
    if (session.limits) this.limits = session.limits;
    this.change({ do: "session", session });
    this.look();
    void this.flush();
  }

  private follow(signal: AbortSignal): Promise<void> {
    return this.api.stream(
      "/functions/v1/chat/stream",
      lastSeq(this.model.turns),
      signal,
      (e) => this.receive(e),
      () => {
        this.pause = 0;
        this.change({ do: "connected", connected: true });
        void this.flush();
      },
    );
  }

  private receive(e: StreamEvent): void {
    const data = JSON.parse(e.data) as Record<string, unknown>;
    switch (e.event) {
      case "turn": {
        const turn = data as unknown as Turn;
        const known = turn.seq <= lastSeq(this.model.turns);
        this.change({ do: "turn", turn });
        if (!known && turn.author !== "visitor") this.onTurn(turn);
        this.look();
        break;
      }
      case "delta":
        this.change({ do: "delta", text: String(data.text ?? "") });
        break;
      case "typing":
        this.change({ do: "typing", author: data.author as "agent", name: data.name as string | undefined });
        clearTimeout(this.quiet);
        this.quiet = setTimeout(() => this.change({ do: "quiet" }), typingFor);
        break;
      case "state":
        this.change({
          do: "state",
          state: data.state as State,
          position: data.position as number | undefined,
          away: data.away as boolean | undefined,
        });
        break;
      case "reset":
        this.change({ do: "reset" });
        this.restart();
        break;
    }
  }

  say(kind: Unsent["kind"], text: string, file?: ChatFile): void {
    this.change({ do: "say", unsent: { client_id: newID(), at: new Date().toISOString(), kind, text, file } });
    void this.flush();
  }

  retry(id: string): void {
    this.change({ do: "retry", client_id: id });
    void this.flush();
  }
  drop(id: string): void {
    this.change({ do: "drop", client_id: id });
  }

  /** flush sends what waits, one after the other, so that the order stays. */
  private async flush(): Promise<void> {
    if (this.sending || !this.api.token) return;
    this.sending = true;
    try {
      for (;;) {
        const next = this.model.unsent.find((u) => !u.refused);
        if (!next) return;
        try {
          const said =
            next.kind === "file" ? { file: next.file!.id, text: next.text || undefined } : { [next.kind]: next.text };
          const turn = await this.api.post<Turn>("/functions/v1/chat/turns", { client_id: next.client_id, ...said });
          this.change({ do: "turn", turn });
        } catch (e) {
          if (!(e instanceof Refused)) throw e;
          if (e.status === 401) {
            this.restart();
            return;
          }
          this.change({ do: "refused", client_id: next.client_id, reason: e.message });
        }
      }
    } catch (e) {
      setTimeout(() => void this.flush(), Math.max(2_000, e instanceof Away ? e.wait : 0));
    } finally {
      this.sending = false;
    }
  }

  async attach(file: File, progress: (share: number) => void): Promise<void> {
    const kept = await this.api.upload<ChatFile>("/functions/v1/chat/files", file, progress);
    this.say("file", "", kept);
  }

  /** typed passes on that the visitor is writing, at most every 3 seconds. */
  typed(): void {
    const now = Date.now();
    if (now - this.typedAt < 3_000 || !this.model.connected || !this.api.token) return;
    this.typedAt = now;
    this.api.post("/functions/v1/chat/typing", {}).catch(() => {});
  }

  /** look records that what is shown has been seen. */
  private look(): void {
    const last = lastSeq(this.model.turns);
    if (!this.visible || !this.api.token || document.visibilityState === "hidden" || last <= this.model.seen) return;
    this.change({ do: "seen", seq: last });
    this.api.post("/functions/v1/chat/seen", { seq: last }).catch(() => {});
  }

  async person(): Promise<void> {
    const r = await this.api.post<{ state: State; position?: number; away?: boolean }>(
      "/functions/v1/chat/handoff",
      {},
    );
    this.change({ do: "state", ...r });
  }

  async leave(contact: { name?: string; email: string }): Promise<void> {
    await this.api.post("/functions/v1/chat/contact", contact);
    this.change({ do: "contact", contact });
  }

  /** score sends thumbs on an answer, and shows them at once; undefined withdraws them. What was refused is undone. */
  async score(turn: Turn, score?: Score): Promise<void> {
    this.change({ do: "scored", seq: turn.seq, score });
    try {
      await this.api.post("/functions/v1/chat/score", { seq: turn.seq, score: score ?? "" });
    } catch (e) {
      this.change({ do: "scored", seq: turn.seq, score: turn.score });
      throw e;
    }
  }

  rate(rating: number, comment: string): Promise<void> {
    return this.api.post("/functions/v1/chat/rating", { rating, comment: comment || undefined });
  }

  async end(): Promise<void> {
    const r = await this.api.post<{ state: State }>("/functions/v1/chat/end", {});
    this.change({ do: "state", state: r.state });
  }

  async anew(): Promise<void> {
    await this.open(true);
    this.stop.abort();
  }
}
