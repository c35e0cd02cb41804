import { describe, expect, it } from "vitest";
import { addTurn, empty, openChoices, reduce, scoreable, unread, type Model, type Session, type Turn } from "./model";

const turn = (seq: number, more: Partial<Turn> = {}): Turn => ({
  seq,
  author: "agent",
  kind: "text",
  text: "t" + seq,
  at: "2026-11-24T10:00:00Z",
  ...more,
});
const session = (turns: Turn[], more: Partial<Session> = {}): Session => ({
  token: "t",
  expires_at: "",
  conversation_id: "c1",
  state: "bot",
  turns,
  ...more,
});
const ready = (turns: Turn[]): Model => reduce(empty, { do: "session", session: session(turns) });

describe("thumbs", () => {
  const sources = [{ title: "Hours" }];
  it("are for the agent's answers from articles", () => {
    expect(scoreable(turn(1, { sources }))).toBe(true);
    expect(scoreable(turn(1))).toBe(false);
    expect(scoreable(turn(1, { sources: [] }))).toBe(false);
    expect(scoreable(turn(1, { sources, author: "teammate" }))).toBe(false);
  });
  it("stand on their turn, and are withdrawn", () => {
    const m = reduce(ready([turn(1, { sources }), turn(2)]), { do: "scored", seq: 1, score: "dislike" });
    expect(m.turns.map((t) => t.score)).toEqual(["dislike", undefined]);
    expect(reduce(m, { do: "scored", seq: 1 }).turns[0]!.score).toBeUndefined();
  });
});

describe("turns", () => {
  it("stay in the order of seq, each once, however they come", () => {
    const seqs = [3, 1, 2, 3, 5, 4, 1].reduce<Turn[]>((all, seq) => addTurn(all, turn(seq)), []).map((t) => t.seq);
    expect(seqs).toEqual([1, 2, 3, 4, 5]);
  });

  it("take the place of what waited to be sent, whichever way the confirmation comes", () => {
    let m = ready([]);
    m = reduce(m, { do: "say", unsent: { client_id: "a", at: "", kind: "text", text: "one" } });
    m = reduce(m, { do: "say", unsent: { client_id: "b", at: "", kind: "text", text: "two" } });
    m = reduce(m, { do: "turn", turn: turn(1, { author: "visitor", client_id: "a" }) });
    m = reduce(m, { do: "turn", turn: turn(1, { author: "visitor", client_id: "a" }) });
    expect(m.unsent.map((u) => u.client_id)).toEqual(["b"]);
    m = reduce(m, { do: "session", session: session([turn(1), turn(2, { author: "visitor", client_id: "b" })]) });
    expect(m.unsent).toEqual([]);
    expect(m.turns.map((t) => t.seq)).toEqual([1, 2]);
  });

  it("of another conversation replace those shown", () => {
    const m = reduce(ready([turn(1), turn(2)]), {
      do: "session",
      session: session([turn(1)], { conversation_id: "c2" }),
    });
    expect(m.turns.length).toBe(1);
  });
});

describe("the agent's answer", () => {
  it("grows by pieces and is replaced by its turn", () => {
    let m = ready([turn(1, { author: "visitor" })]);
    m = reduce(m, { do: "typing", author: "agent" });
    m = reduce(m, { do: "delta", text: "Good " });
    m = reduce(m, { do: "delta", text: "day" });
    expect([m.partial, m.typing]).toEqual(["Good day", undefined]);
    m = reduce(m, { do: "turn", turn: turn(2, { text: "Good day" }) });
    expect(m.partial).toBe("");
  });

  it("is forgotten when the connection is lost, since its turn comes whole", () => {
    const m = reduce(reduce(ready([]), { do: "delta", text: "Go" }), { do: "connected", connected: false });
    expect(m.partial).toBe("");
  });
});

describe("what is unread", () => {
  it("is what others said since it was seen", () => {
    let m = ready([turn(1)]);
    expect(unread(m)).toBe(0);
    m = reduce(m, { do: "turn", turn: turn(2) });
    m = reduce(m, { do: "turn", turn: turn(3, { author: "visitor" }) });
    m = reduce(m, { do: "turn", turn: turn(4, { author: "system", kind: "event", event: "joined" }) });
    expect(unread(m)).toBe(1);
    expect(unread(reduce(m, { do: "seen", seq: 4 }))).toBe(0);
  });
});

describe("a reset", () => {
  it("forgets what the server no longer has", () => {
    const m = reduce(ready([turn(1), turn(9)]), { do: "reset" });
    const s = { token: "t", expires_at: "", conversation_id: "c", state: "bot" as const, turns: [turn(1)] };
    expect(reduce(m, { do: "session", session: s }).turns.map((t) => t.seq)).toEqual([1]);
  });
});

describe("choices", () => {
  const asked = turn(1, { kind: "choices", choices: ["yes", "no"] });
  it("are open until something else is said", () => {
    expect(openChoices(ready([asked]))).toEqual(["yes", "no"]);
    expect(openChoices(ready([asked, turn(2, { author: "system", kind: "event", event: "joined" })]))).toEqual([
      "yes",
      "no",
    ]);
    expect(openChoices(ready([asked, turn(2, { author: "visitor" })]))).toEqual([]);
    expect(
      openChoices(
        reduce(ready([asked]), { do: "say", unsent: { client_id: "a", at: "", kind: "choice", text: "yes" } }),
      ),
    ).toEqual([]);
    expect(openChoices(reduce(ready([asked]), { do: "state", state: "resolved" }))).toEqual([]);
  });
});
