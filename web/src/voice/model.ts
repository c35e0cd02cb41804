// What the page shows, and how it changes. Pure: no network, no sound, no clock.
import type { Mic, TalkState } from "../shared/voice/talk";

export interface Source {
  title: string;
  url?: string;
}

/** A turn as the server gives it. */
export interface ServerTurn {
  seq: number;
  author: string;
  kind: string;
  text: string;
  name?: string;
  choices?: string[];
  sources?: Source[];
}

/** Line is one thing said, as it is shown. */
export interface Line {
  key: number;
  author: "visitor" | "agent" | "teammate" | "system";
  name?: string;
  text: string;
  /** How many characters have been spoken. */
  shown: number;
  /** Nothing of it will change. */
  done: boolean;
  /** Of the agent's response. */
  id?: number;
  sources?: Source[];
  /** It was cut off after what is shown. It may go on, until it is known what was heard of it. */
  cut?: boolean;
  held?: boolean;
  /** Where the sound of this id begins in the text. */
  from?: number;
  /** It was typed here, and the server has not been seen to have it. */
  typed?: boolean;
  seq?: number;
}

export type Failure = "refused" | "gone" | "busy" | "lost" | "unavailable";

export interface Model {
  screen: "start" | "talk" | "ended" | "failed";
  state: TalkState;
  lines: Line[];
  /** What the visitor is saying, as far as it is understood. */
  tentative: string;
  choices: string[];
  conversation: string;
  /** Of the conversation: bot, queued, active, … */
  handoff: string;
  position?: number;
  teammate?: string;
  mic: Mic;
  blocked: boolean;
  sound: boolean;
  /** Whether the visitor is asked to let the browser's maker recognise what they say. */
  asking: boolean;
  /** Whether one began by speaking. */
  speaking: boolean;
  /** A sentence about what does not work, while it does not. */
  notice?: string;
  failure?: Failure;
  detail?: string;
  /** Whether this side ended it. */
  left?: boolean;
  began: number;
  seconds: number;
  rated: boolean;
}

export const empty: Model = {
  screen: "start",
  state: "idle",
  lines: [],
  tentative: "",
  choices: [],
  conversation: "",
  handoff: "bot",
  mic: { on: false, muted: false },
  blocked: false,
  sound: true,
  asking: false,
  speaking: false,
  began: 0,
  seconds: 0,
  rated: false,
};

export type Change =
  | { do: "begin"; speaking: boolean; sound: boolean; at: number }
  | { do: "state"; state: TalkState }
  | { do: "conversation"; id: string }
  | { do: "reload"; turns: ServerTurn[]; state: string }
  | { do: "typed"; text: string }
  | { do: "heard"; text: string; final: boolean }
  | { do: "response"; id: number; text: string; whole: boolean; at: number }
  | { do: "shown"; id: number; shown: number; done: boolean }
  | { do: "interrupted"; id: number }
  | { do: "resumed"; id: number }
  | { do: "corrected"; id: number; text: string }
  | { do: "choices"; choices: string[] }
  | { do: "sources"; id: number; sources: Source[] }
  | { do: "turn"; seq: number; author: string; name?: string; text: string }
  | { do: "moved"; state: string; position?: number }
  | { do: "teammate"; name?: string }
  | { do: "event"; text: string }
  | { do: "asking"; asking: boolean }
  | { do: "mic"; mic: Mic }
  | { do: "blocked"; blocked: boolean }
  | { do: "sound"; on: boolean }
  | { do: "notice"; text?: string }
  | { do: "ended"; left: boolean; at: number }
  | { do: "failed"; failure: Failure; detail?: string }
  | { do: "rated" }
  | { do: "again" };

export function reduce(m: Model, c: Change): Model {
  switch (c.do) {
    case "begin":
      return { ...empty, screen: "talk", state: "connecting", speaking: c.speaking, sound: c.sound, began: c.at };
    case "state":
      return m.state === c.state
        ? m
        : { ...m, state: c.state, tentative: c.state === "reconnecting" ? "" : m.tentative };
    case "conversation":
      return { ...m, conversation: c.id };
    case "reload":
      return reload(m, c.turns, c.state);
    case "typed":
      return { ...add(m, { author: "visitor", text: c.text, typed: true }), choices: [], tentative: "" };
    case "heard":
      return c.final
        ? { ...(c.text ? add(m, { author: "visitor", text: c.text }) : m), choices: [], tentative: "" }
        : { ...m, tentative: c.text };
    case "response": {
      const known = m.lines.some((l) => l.id === c.id);
      if (!known && !c.text) return m;
      if (!known)
        return { ...add(finish(m), { author: "agent", text: c.text, id: c.id, shown: 0, done: false }), choices: [] };
      return lines(m, (l) => (l.id === c.id && !l.cut ? { ...l, text: c.text } : l));
    }
    case "shown":
      return lines(m, (l) =>
        l.id === c.id && !l.done
          ? { ...l, shown: c.done ? l.text.length : Math.max(l.shown, c.shown), done: c.done }
          : l,
      );
    case "interrupted":
      return lines(m, (l) =>
        l.id !== undefined && l.id <= c.id && !l.done ? { ...l, cut: true, held: true, done: true } : l,
      );
    case "resumed": {
      const last = m.lines.findLast((l) => l.held);
      return lines(m, (l) =>
        l === last ? { ...l, id: c.id, cut: false, held: false, done: false, from: l.shown } : l,
      );
    }
    case "corrected":
      return lines(m, (l) =>
        l.id === c.id ? { ...l, cut: true, held: false, done: true, text: c.text, shown: c.text.length } : l,
      );
    case "choices":
      return { ...m, choices: c.choices };
    case "sources":
      return lines(m, (l) => (l.id === c.id ? { ...l, sources: c.sources } : l));
    case "turn": {
      const author = authorOf(c.author);
      if (m.lines.some((l) => l.seq === c.seq)) return m;
      const own =
        author === "visitor" ? m.lines.findIndex((l) => l.typed && l.seq === undefined && l.text === c.text) : -1;
      if (own >= 0) return { ...m, lines: m.lines.map((l, i) => (i === own ? { ...l, seq: c.seq, typed: false } : l)) };
      return add(m, { author, name: c.name, text: c.text, seq: c.seq });
    }
    case "moved":
      return { ...m, handoff: c.state, position: c.position };
    case "teammate":
      return {
        ...m,
        teammate: c.name,
        handoff: c.name === undefined ? m.handoff : "active",
        position: undefined,
        choices: [],
      };
    case "event":
      return add(m, { author: "system", text: c.text });
    case "asking":
      return { ...m, asking: c.asking };
    case "mic":
      return { ...m, mic: c.mic };
    case "blocked":
      return { ...m, blocked: c.blocked };
    case "sound":
      return { ...m, sound: c.on };
    case "notice":
      return { ...m, notice: c.text };
    case "ended":
      return {
        ...finish(m),
        screen: "ended",
        state: "ended",
        left: c.left,
        choices: [],
        tentative: "",
        teammate: undefined,
        notice: undefined,
        blocked: false,
        seconds: Math.max(0, Math.round((c.at - m.began) / 1000)),
      };
    case "failed":
      return {
        ...finish(m),
        screen: "failed",
        state: "ended",
        failure: c.failure,
        detail: c.detail,
        choices: [],
        tentative: "",
        blocked: false,
      };
    case "rated":
      return { ...m, rated: true };
    case "again":
      return { ...empty };
  }
}

function lines(m: Model, f: (l: Line) => Line): Model {
  return { ...m, lines: m.lines.map(f) };
}

/** finish has nothing wait to be spoken any more. */
function finish(m: Model): Model {
  return m.lines.every((l) => l.done) ? m : lines(m, (l) => (l.done ? l : { ...l, done: true, shown: l.text.length }));
}

function add(m: Model, line: Partial<Line> & Pick<Line, "author" | "text">): Model {
  return {
    ...m,
    lines: [
      ...m.lines,
      { key: (m.lines[m.lines.length - 1]?.key ?? 0) + 1, shown: line.text.length, done: true, ...line },
    ],
  };
}

function authorOf(author: string): Line["author"] {
  return author === "visitor" || author === "agent" || author === "teammate" ? author : "system";
}

/** reload replaces what is shown by what the server has; what was typed and is not there stays, to be sent again. */
function reload(m: Model, turns: ServerTurn[], state: string): Model {
  const said = turns.filter((t) => t.text && t.kind !== "event");
  const missing = m.lines.filter(
    (l) =>
      l.typed &&
      !said.some((t) => t.author === "visitor" && t.text === l.text && !m.lines.some((o) => o.seq === t.seq)),
  );
  const last = said[said.length - 1];
  const next = said.reduce(
    (all, t) => add(all, { author: authorOf(t.author), name: t.name, text: t.text, sources: t.sources, seq: t.seq }),
    { ...m, lines: [] as Line[] },
  );
  return {
    ...missing.reduce((all, l) => add(all, { author: "visitor", text: l.text, typed: true }), next),
    handoff: state,
    choices: (missing.length ? undefined : last?.choices) ?? [],
    tentative: "",
  };
}

/** unsent is what was typed and the server has not. */
export function unsent(m: Model): string[] {
  return m.lines.filter((l) => l.typed).map((l) => l.text);
}
