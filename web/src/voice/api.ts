// The routes of the voice widget.
import type { Customer, Widget } from "./host";
import type { ServerTurn } from "./model";

/** Refused is an answer of Carillon that is no success. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
  /** Asking again changes nothing. */
  get final(): boolean {
    return this.status < 500 && this.status !== 429 && this.status !== 408;
  }
}

export interface Session {
  signed_url: string;
  conversation_id: string;
  conversation_token: string;
  sdk?: { transport?: string; protocol?: string };
}

const path = "/functions/v1/voice-widget";
const timeout = 15_000;

export class Api {
  /** Of the conversation; "" before there is one. */
  token = "";
  constructor(
    private readonly base: string,
    private readonly key: string,
    private readonly widget: string,
  ) {}

  private async send<T>(method: string, route: string, query: Record<string, string>, body?: unknown): Promise<T> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), timeout);
    try {
      const headers: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
      if (this.token) headers.Authorization = "Bearer " + this.token;
      const search = Object.keys(query).length ? "?" + new URLSearchParams(query).toString() : "";
      const r = await fetch(this.base + path + route + search, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: stop.signal,
        credentials: "omit",
      });
      const text = await r.text();
      const got = text ? JSON.parse(text) : undefined;
      if (r.ok) return got as T;
      throw new Refused(r.status, got?.error ?? "", got?.message ?? r.statusText);
    } finally {
      clearTimeout(timer);
    }
  }

  private get credentials(): Record<string, string> {
    return { id_widget: this.widget, access_key: this.key };
  }

  configuration(language: string): Promise<Widget> {
    return this.send("GET", "", { ...this.credentials, language });
  }

  /** session is a new signed address: of a new conversation, or of the same while there is a token. */
  async session({ id, identity, page }: Customer, language: string): Promise<Session> {
    const s = await this.send<Session>("GET", "/signed-url", {
      ...this.credentials,
      customer_id: id,
      language,
      ...(identity && { identity }),
      ...(page && { page }),
    });
    this.token = s.conversation_token || this.token;
    return s;
  }

  turns(conversation: string): Promise<{ state: string; turns: ServerTurn[] }> {
    return this.send("GET", "/chat-by-conversation", { conversation_id: conversation });
  }
  person(): Promise<{ state: string; position?: number }> {
    return this.send("POST", "/handoff", {}, {});
  }
  agent(): Promise<{ state: string }> {
    return this.send("POST", "/handoff/end", {}, {});
  }
  rate(rating: number, comment: string): Promise<void> {
    return this.send("POST", "/feedback", {}, { rating, comment: comment || undefined });
  }
}
