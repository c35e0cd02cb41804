// What the page shows, and how it changes. Pure: no network, no storage, no clock.

export type Author = "visitor" | "agent" | "teammate" | "system";

export interface ChatFile {
  id: string;
  name: string;
  type: string;
  size: number;
  url: string;
}
export interface Source {
  title: string;
  url?: string;
}

/** A turn as the server gives it. */
export interface Turn {
  seq: number;
  author: Author;
  kind: "text" | "choices" | "choice" | "file" | "event";
  text: string;
  at: string;
  client_id?: string;
  name?: string;
  choices?: string[];
  file?: ChatFile;
  sources?: Source[];
  event?: string;
  rating?: number;
  /** What the visitor thinks of an answer. */
  score?: Score;
}

export type Score = "like" | "dislike";

export type State = "bot" | "queued" | "active" | "wrap_up" | "resolved" | "missed" | "abandoned";

/** What the visitor said that the server has not confirmed. */
export interface Unsent {
  client_id: string;
  at: string;
  kind: "text" | "choice" | "file";
  text: string;
  file?: ChatFile;
  /** Why the server refused it for good; it is not sent again by itself. */
  refused?: string;
}

export interface Model {
  phase: "loading" | "failed" | "ready";
  problem?: string;
  connected: boolean;
  conversation: string;
  state: State;
  position?: number;
  away: boolean;
  contact: { name?: string; email?: string };
  turns: Turn[];
  unsent: Unsent[];
  /** The answer that the agent is giving, as far as it is known. */
  partial: string;
  /** Who is writing, and until when that counts. */
  typing?: { author: Author; name?: string };
  seen: number;
}

export const empty: Model = {
  phase: "loading",
  connected: true,
  conversation: "",
  state: "bot",
  away: false,
  contact: {},
  turns: [],
  unsent: [],
  partial: "",
  seen: 0,
};

export interface Session {
  token: string;
  expires_at: string;
  conversation_id: string;
  state: State;
  position?: number;
  away?: boolean;
  contact?: { name?: string; email?: string };
  turns: Turn[];
  limits?: { text: number; file: number; types: string[] };
}

export type Change =
  | { do: "session"; session: Session }
  | { do: "failed"; problem: string }
  | { do: "connected"; connected: boolean }
  | { do: "turn"; turn: Turn }
  | { do: "scored"; seq: number; score?: Score }
  | { do: "delta"; text: string }
  | { do: "typing"; author: Author; name?: string }
  | { do: "quiet" }
  | { do: "state"; state: State; position?: number; away?: boolean }
  | { do: "say"; unsent: Unsent }
  | { do: "refused"; client_id: string; reason: string }
  | { do: "retry"; client_id: string }
  | { do: "drop"; client_id: string }
  | { do: "contact"; contact: { name?: string; email?: string } }
  | { do: "seen"; seq: number }
  | { do: "outbox"; unsent: Unsent[] }
  | { do: "reset" };

export function reduce(m: Model, c: Change): Model {
  switch (c.do) {
    case "session": {
      const s = c.session;
      const same = m.conversation === s.conversation_id;
      const turns = s.turns.reduce(addTurn, same ? m.turns : []);
      return {
        ...m,
        phase: "ready",
        problem: undefined,
        connected: true,
        conversation: s.conversation_id,
        state: s.state,
        position: s.position,
        away: s.away ?? false,
        contact: s.contact ?? {},
        turns,
        unsent: confirmed(m.unsent, s.turns),
        partial: "",
        seen: same ? m.seen : lastSeq(turns),
      };
    }
    case "failed":
      return { ...m, phase: m.phase === "ready" ? "ready" : "failed", problem: c.problem, connected: false };
    case "connected":
      return m.connected === c.connected ? m : { ...m, connected: c.connected, partial: "", typing: undefined };
    case "turn": {
      const theirs = c.turn.author !== "visitor";
      return {
        ...m,
        turns: addTurn(m.turns, c.turn),
        unsent: confirmed(m.unsent, [c.turn]),
        partial: c.turn.author === "agent" || c.turn.kind === "event" ? "" : m.partial,
        typing: theirs ? undefined : m.typing,
      };
    }
    case "scored":
      return { ...m, turns: m.turns.map((t) => (t.seq === c.seq ? { ...t, score: c.score } : t)) };
    case "delta":
      return { ...m, partial: m.partial + c.text, typing: undefined };
    case "typing":
      return { ...m, typing: { author: c.author, name: c.name } };
    case "quiet":
      return { ...m, typing: undefined };
    case "state":
      return {
        ...m,
        state: c.state,
        position: c.position,
        away: c.away ?? m.away,
        partial: c.state === "bot" ? m.partial : "",
      };
    case "say":
      return { ...m, unsent: [...m.unsent, c.unsent] };
    case "refused":
      return { ...m, unsent: m.unsent.map((u) => (u.client_id === c.client_id ? { ...u, refused: c.reason } : u)) };
    case "retry":
      return { ...m, unsent: m.unsent.map((u) => (u.client_id === c.client_id ? { ...u, refused: undefined } : u)) };
    case "drop":
      return { ...m, unsent: m.unsent.filter((u) => u.client_id !== c.client_id) };
    case "contact":
      return { ...m, contact: { ...m.contact, ...c.contact } };
    case "seen":
      return { ...m, seen: Math.max(m.seen, c.seq) };
    case "reset":
      return { ...m, conversation: "", turns: [], seen: 0, partial: "", typing: undefined };
    case "outbox":
      return { ...m, unsent: [...c.unsent, ...m.unsent] };
  }
}

/** addTurn keeps turns in the order of seq, each once. */
export function addTurn(turns: Turn[], turn: Turn): Turn[] {
  const last = turns[turns.length - 1];
  if (!last || turn.seq > last.seq) return [...turns, turn];
  const at = turns.findIndex((t) => t.seq >= turn.seq);
  if (turns[at]!.seq === turn.seq) return turns.map((t, i) => (i === at ? turn : t));
  return [...turns.slice(0, at), turn, ...turns.slice(at)];
}

function confirmed(unsent: Unsent[], turns: Turn[]): Unsent[] {
  const ids = new Set(turns.map((t) => t.client_id));
  return unsent.some((u) => ids.has(u.client_id)) ? unsent.filter((u) => !ids.has(u.client_id)) : unsent;
}

export function lastSeq(turns: Turn[]): number {
  return turns.length ? turns[turns.length - 1]!.seq : 0;
}

/** unread counts what others said after a seq. */
export function unread(m: Model): number {
  return m.turns.filter((t) => t.seq > m.seen && t.author !== "visitor" && t.author !== "system").length;
}

/** scoreable reports whether a turn is an answer that the visitor may score: one of the agent with its sources. */
export function scoreable(t: Turn): boolean {
  return t.author === "agent" && !!t.sources?.length;
}

/** openChoices are those that the visitor may still pick: of the last turn alone, while the agent answers. */
export function openChoices(m: Model): string[] {
  if (m.unsent.length || m.state !== "bot") return [];
  const said = m.turns.filter((t) => t.kind !== "event");
  const last = said[said.length - 1];
  return last?.kind === "choices" ? (last.choices ?? []) : [];
}
