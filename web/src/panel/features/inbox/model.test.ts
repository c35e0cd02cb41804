import { describe, expect, it } from "vitest";
import {
  belongs,
  current,
  following,
  keep,
  mark,
  matching,
  merge,
  next,
  place,
  present,
  previewOf,
  seenTurn,
  spoke,
  waits,
} from "./model";
import type { Listed, Turn } from "./types";

const conversation = (id: string, more: Partial<Listed> = {}): Listed => ({
  id,
  channel: "web_chat",
  contact_id: "c",
  state: "active",
  state_at: "",
  tags: [],
  last_seq: 1,
  last_at: "2026-11-24T10:00:00Z",
  last_text: "",
  visitor_seq: 1,
  company_seq: 0,
  seen_seq: 0,
  unread: false,
  opened_at: "",
  ...more,
});
const turn = (seq: number, more: Partial<Turn> = {}): Turn => ({
  seq,
  author: "visitor",
  kind: "text",
  text: String(seq),
  at: "",
  ...more,
});

describe("what a list shows of a conversation", () => {
  const said = { last_text: "Talk to a person", last_author: "visitor", question: "What does it cost?" } as const;
  it("is the question of whoever waits, not the wish for a person", () => {
    expect(previewOf(conversation("1", { ...said, state: "queued" }))).toEqual({ text: "What does it cost?" });
    expect(previewOf(conversation("1", { ...said, state: "bot", last_author: "agent" })).text).toBe(said.question);
    expect(previewOf(conversation("1", { state: "queued", last_text: "Hello", last_author: "visitor" }))).toEqual({
      text: "Hello",
      by: "visitor",
    });
  });
  it("is what was said last while a teammate has it", () => {
    expect(previewOf(conversation("1", said)).text).toBe("Talk to a person");
    expect(previewOf(conversation("1", { ...said, state: "resolved", last_author: "teammate" })).by).toBe("teammate");
  });
});

describe("what the contact has seen", () => {
  const agent = (seq: number, more: Partial<Turn> = {}) => turn(seq, { author: "agent", ...more });
  it("is the company's last message that they have seen", () => {
    expect(seenTurn([turn(1), agent(2), agent(3)], 3)).toBe(3);
    expect(seenTurn([turn(1), agent(2), agent(3)], 2)).toBe(2);
    expect(seenTurn([turn(1), agent(2)], 1)).toBeUndefined();
    expect(seenTurn([], 4)).toBeUndefined();
  });
  it("is never a note or an event, whatever stands below the message", () => {
    const after = [
      agent(2),
      agent(3, { note: true, author: "teammate" }),
      agent(4, { kind: "event", author: "system" }),
    ];
    expect(seenTurn([turn(1), ...after], 4)).toBe(2);
    expect(seenTurn([turn(1), ...after.slice(1)], 4)).toBeUndefined();
  });
  it("goes without saying once they have answered", () => {
    expect(seenTurn([agent(1), turn(2)], 2)).toBeUndefined();
    expect(seenTurn([agent(1), turn(2), agent(3)], 2)).toBeUndefined();
  });
});

describe("lists", () => {
  const all = { folder: "all", closed: false, me: "ana", order: "newest" } as const;
  it("knows what a folder holds", () => {
    expect(belongs(conversation("1", { assignee: "ana" }), { ...all, folder: "mine" })).toBe(true);
    expect(belongs(conversation("1", { assignee: "ben" }), { ...all, folder: "mine" })).toBe(false);
    expect(
      belongs(conversation("1", { state: "missed", waiting_at: "2026-11-24T10:00:00Z" }), {
        ...all,
        folder: "unassigned",
      }),
    ).toBe(true);
    expect(belongs(conversation("1", { state: "bot" }), { ...all, folder: "automated" })).toBe(true);
    expect(belongs(conversation("1", { state: "resolved" }), all)).toBe(false);
    expect(belongs(conversation("1", { state: "resolved" }), { ...all, closed: true })).toBe(true);
  });
  it("moves what changed to its place and keeps who it is", () => {
    const list = [
      conversation("1", { name: "Eva", last_at: "2026-11-24T10:02:00Z" }),
      conversation("2", { name: "Leo", group: true, last_at: "2026-11-24T10:01:00Z" }),
    ];
    const moved = place(list, conversation("2", { last_at: "2026-11-24T10:03:00Z", last_text: "new" }), all);
    expect(moved.map((c) => [c.id, c.name, c.group, c.last_text])).toEqual([
      ["2", "Leo", true, "new"],
      ["1", "Eva", undefined, ""],
    ]);
    expect(place(list, conversation("1", { state: "resolved" }), all).map((c) => c.id)).toEqual(["2"]);
    expect(place(list, conversation("3"), all)).toBe(list);
  });
  it("goes up and down and stops at the ends", () => {
    const list = [conversation("1"), conversation("2")];
    expect(next(list, undefined, 1)).toBe("1");
    expect(next(list, "1", 1)).toBe("2");
    expect(next(list, "2", 1)).toBe("2");
    expect(next(list, "1", -1)).toBe("1");
    expect(next([], "1", 1)).toBeUndefined();
  });
});

it("keeps turns in one order, each once", () => {
  expect(merge([turn(1), turn(3)], [turn(2), turn(3)]).map((t) => t.seq)).toEqual([1, 2, 3]);
});

it("shows who writes until they said it or stopped", () => {
  let marks = mark({}, "typing", { conversation_id: "1", author: "teammate", account_id: "ben", name: "Ben" }, 0);
  marks = mark(marks, "typing", { conversation_id: "1", author: "visitor" }, 0);
  expect(present(marks, "1", "typing", "ana", 1000).map((p) => p.account)).toEqual(["ben", "visitor"]);
  expect(present(marks, "1", "typing", "ben", 1000).map((p) => p.account)).toEqual(["visitor"]);
  expect(present(marks, "1", "typing", "ana", 7000)).toEqual([]);
  expect(present(spoke(marks, "1", [turn(1)], true), "1", "typing", "ana", 1000).map((p) => p.account)).toEqual([
    "ben",
  ]);
  const agent = mark({}, "typing", { conversation_id: "1", author: "agent", name: "Reception" }, 0);
  expect(present(spoke(agent, "1", [], true), "1", "typing", "ana", 1)).toHaveLength(1);
  expect(present(spoke(agent, "1", [], false), "1", "typing", "ana", 1)).toEqual([]);
  expect(current(agent, 7000)).toEqual({});
});

it("finds canned replies by the beginning of their shortcut first", () => {
  const replies = [
    { shortcut: "refund", text: "x" },
    { shortcut: "hours", text: "We are open; refunds take 3 days" },
    { shortcut: "re", text: "y" },
  ];
  expect(matching(replies, "/re").map((r) => r.shortcut)).toEqual(["re", "refund", "hours"]);
  expect(matching(replies, "see /re")).toEqual([]);
  expect(matching(replies, "/")).toHaveLength(3);
});

describe("a list of those who wait", () => {
  const view = { folder: "unassigned", closed: false, me: "ana", order: "oldest" } as const;
  const waiting = (id: string, minute: number, more: Partial<Listed> = {}) =>
    conversation(id, {
      state: "queued",
      waiting_at: `2026-11-24T10:0${minute}:00Z`,
      last_at: `2026-11-24T11:0${9 - minute}:00Z`,
      ...more,
    });
  const ids = (list: Listed[]) => list.map((c) => c.id).join("");
  const list = [waiting("a", 1), waiting("b", 2), waiting("c", 3)];
  const taken = { ...list[1]!, state: "active", assignee: "ana", waiting_at: undefined } as Listed;

  it("has those who wait longest first, whatever they write", () => {
    expect(ids(place(list, waiting("b", 2, { last_at: "2026-11-24T12:00:00Z" }), view))).toBe("abc");
    expect(ids(place(list, waiting("a", 4), view))).toBe("bca");
    expect(ids(place(list, waiting("c", 3, { last_at: "2026-11-24T12:00:00Z" }), { ...view, order: "newest" }))).toBe(
      "cab",
    );
  });
  it("keeps the row of one that was taken, at its place, also when it is read again", () => {
    const kept = new Set(["b"]);
    const after = place(list, taken, view, kept);
    expect(ids(after)).toBe("abc");
    expect(after[1]!.assignee).toBe("ana");
    expect(ids(place(list, taken, view))).toBe("ac");
    expect(ids(keep([list[0]!, list[2]!, waiting("d", 4)], after, kept))).toBe("abcd");
    expect(ids(keep([], after, kept))).toBe("b");
    expect(ids(place(after, waiting("a", 4), view, kept))).toBe("bca");
  });
  it("has the next one after one is resolved, or the one before", () => {
    expect(following(list, "a")).toBe("b");
    expect(following(list, "c")).toBe("b");
    expect(following([list[0]!], "a")).toBeUndefined();
    expect(following(list, "x")).toBe("a");
    expect(following([], "x")).toBeUndefined();
  });
  it("tells who waits for an answer", () => {
    expect(waits(list[0]!)).toBe(true);
    expect(waits(taken)).toBe(true);
    expect(waits({ ...taken, company_seq: 2 })).toBe(false);
    expect(waits(conversation("b", { state: "bot" }))).toBe(false);
    expect(belongs(conversation("u", { unanswered: "Dogs?" }), { ...view, folder: "unanswered" })).toBe(true);
  });
});
