import { beforeEach, expect, it, vi } from "vitest";
import type { Server } from "./snapshot";
import { Inbox } from "./store";
import type { Summary, Thread, Turn } from "./types";

const summary = (more: Partial<Summary> = {}): Summary => ({
  id: "1",
  channel: "web_chat",
  contact_id: "k",
  state: "active",
  state_at: "",
  tags: [],
  last_seq: 2,
  last_at: "2026-11-24T10:00:00Z",
  last_text: "hello",
  visitor_seq: 1,
  company_seq: 2,
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
  at: "2026-11-24T09:00:00Z",
  ...more,
});
const contact = {
  id: "k",
  name: "Eva",
  email: "",
  number: "",
  language: "",
  verified: false,
  visitor_id: "",
  created_at: "",
  seen_at: "",
};

class Fake implements Server {
  calls: { method: string; path: string; body?: unknown }[] = [];
  answers = new Map<string, unknown>();
  emit!: (name: string, data: unknown) => void;
  connect!: (yes: boolean) => void;
  request = ((
    method: string,
    route: string,
    { query, body }: { query?: Record<string, string>; body?: unknown } = {},
  ) => {
    const path = query ? `${route}?${new URLSearchParams(query).toString()}` : route;
    this.calls.push({ method: method.toUpperCase(), path, body });
    const found = this.answers.get(`${method.toUpperCase()} ${route}`);
    if (found instanceof Error) return Promise.reject(found);
    return Promise.resolve(found ?? { data: [], next_cursor: null, turns: [], more: false });
  }) as Server["request"];
  follow(f: Parameters<Server["follow"]>[0]) {
    this.emit = f.event;
    this.connect = f.connected;
    return () => {};
  }
}

const refused = (details: object) => Object.assign(new Error("conflict"), { status: 409, details });
let server: Fake;
let inbox: Inbox;
const settled = () => new Promise((r) => setTimeout(r, 0));

beforeEach(async () => {
  vi.stubGlobal("document", { visibilityState: "visible" });
  server = new Fake();
  const thread: Thread = {
    conversation: summary(),
    contact,
    turns: [turn(1), turn(2, { author: "agent" })],
    more: false,
  };
  server.answers.set("GET /conversations/1", thread);
  server.answers.set("GET /conversations", { data: [{ ...summary(), name: "Eva" }], next_cursor: null });
  inbox = new Inbox(server, "ana", true, () => 1_000_000);
  inbox.start();
  inbox.show({ folder: "all", closed: false, order: "newest" }, "");
  inbox.open("1");
  await settled();
});

it("shows what comes, and reads the turns that a gap left out", async () => {
  server.emit("conversation.updated", { v: 1, conversation: summary({ last_seq: 3 }), turns: [turn(3)] });
  expect(inbox.snapshot().thread!.turns.map((t) => t.seq)).toEqual([1, 2, 3]);
  server.answers.set("GET /conversations/1/turns", { turns: [turn(4), turn(5)], more: false });
  server.emit("conversation.updated", { v: 1, conversation: summary({ last_seq: 5 }), turns: [turn(5)] });
  await settled();
  expect(inbox.snapshot().thread!.turns.map((t) => t.seq)).toEqual([1, 2, 3, 4, 5]);
});

it("shows an answer at once and once", async () => {
  const said = turn(3, { author: "teammate", client_id: "x", text: "hi" });
  server.answers.set("POST /conversations/1/answers", { turn: said, conversation: summary({ last_seq: 3 }) });
  const sending = inbox.say("hi", false, 2, "x");
  expect(inbox.snapshot().thread!.unsent.map((u) => u.text)).toEqual(["hi"]);
  server.emit("conversation.updated", { v: 1, conversation: summary({ last_seq: 3 }), turns: [said] });
  expect(await sending).toEqual({ result: "sent" });
  expect(inbox.snapshot().thread!.unsent).toEqual([]);
  expect(inbox.snapshot().thread!.turns.map((t) => t.seq)).toEqual([1, 2, 3]);
  expect(server.calls.find((c) => c.path.endsWith("/answers"))!.body).toEqual({ client_id: "x", text: "hi", seen: 2 });
});

it("knows that a reply was seen, whatever comes first", async () => {
  const said = turn(3, { author: "teammate", client_id: "x", text: "hi" });
  server.answers.set("POST /conversations/1/answers", { turn: said, conversation: summary({ last_seq: 3 }) });
  const sending = inbox.say("hi", false, 2, "x");
  server.emit("conversation.updated", { v: 1, conversation: summary({ last_seq: 3 }), turns: [said] });
  server.emit("conversation.updated", { v: 1, conversation: summary({ last_seq: 3, seen_seq: 3 }), turns: [] });
  await sending;
  expect(inbox.snapshot().thread!.conversation.seen_seq).toBe(3);
});

it("says who has it, or that somebody answered, and keeps nothing half sent", async () => {
  server.answers.set("POST /conversations/1/answers", refused({ assignee: "ben", assignee_name: "Ben" }));
  expect(await inbox.say("hi", false, 2)).toEqual({ result: "taken", by: "Ben" });
  server.answers.set("POST /conversations/1/answers", refused({ reason: "It was answered meanwhile" }));
  expect(await inbox.say("hi", false, 2)).toEqual({ result: "answered" });
  expect(inbox.snapshot().thread!.unsent).toEqual([]);
});

it("reads again what happened while the stream was away", async () => {
  server.connect(false);
  server.answers.set("GET /conversations/1/turns", { turns: [turn(3)], more: false });
  server.connect(true);
  await settled();
  await settled();
  expect(inbox.snapshot().thread!.turns.map((t) => t.seq)).toEqual([1, 2, 3]);
  expect(server.calls.filter((c) => c.path.startsWith("/conversations?")).length).toBe(2);
});

it("asks by tag where the search names one", () => {
  inbox.show({ folder: "mine", closed: true, order: "newest" }, " tag:vip ");
  expect(
    server.calls.some((c) => c.path === "/conversations?folder=mine&limit=40&order=newest&closed=true&tag=vip"),
  ).toBe(true);
});

it("follows where replies are, and opens the window again when the contact writes", async () => {
  const window = {
    until: "2026-11-25T10:00:00.000Z",
    number: "34600701234",
    sender_id: "demo",
    sender: "15550100100",
    provider: "sandbox",
  };
  server.answers.set("GET /conversations/1", {
    conversation: summary({ channel: "whatsapp" }),
    contact,
    turns: [turn(1), turn(2, { author: "agent" })],
    more: false,
    window,
    deliveries: [{ seq: 2, state: "sent" }],
  });
  await inbox.reloadThread();
  expect(inbox.snapshot().thread!.sent[2]!.state).toBe("sent");
  server.emit("delivery", { conversation_id: "other", seq: 2, state: "read" });
  server.emit("delivery", { conversation_id: "1", seq: 2, state: "failed", reason: "window_closed" });
  expect(inbox.snapshot().thread!.sent[2]).toMatchObject({ state: "failed", reason: "window_closed" });
  for (const [state, shown] of [
    ["delivered", "delivered"],
    ["sent", "delivered"],
    ["read", "read"],
    ["delivered", "read"],
    ["sending", "read"],
  ]) {
    server.emit("delivery", { conversation_id: "1", seq: 2, state });
    expect(inbox.snapshot().thread!.sent[2]!.state).toBe(shown);
  }
  server.emit("conversation.updated", {
    v: 1,
    conversation: summary({ last_seq: 3 }),
    turns: [turn(3, { author: "agent", at: "2026-11-24T12:00:00Z" })],
  });
  expect(inbox.snapshot().thread!.window).toBe(window);
  server.emit("conversation.updated", {
    v: 1,
    conversation: summary({ last_seq: 4 }),
    turns: [turn(4, { at: "2026-11-24T12:00:00Z" })],
  });
  expect(inbox.snapshot().thread!.window!.until).toBe("2026-11-25T12:00:00.000Z");
  server.answers.set("POST /conversations/1/answers", refused({ reason: "too late", window: "closed" }));
  expect(await inbox.say("hi", false, 2)).toEqual({ result: "closed" });
});

it("asks for the window where a contact writes for the first time, or does what is no turn of theirs", async () => {
  const whatsapp = {
    conversation: summary({ channel: "whatsapp", last_seq: 0 }),
    contact,
    turns: [] as Turn[],
    more: false,
  };
  const window = {
    until: "2026-11-25T10:00:00.000Z",
    number: "",
    user_id: "ZZ.1",
    sender_id: "demo",
    sender: "15550100100",
    provider: "sandbox",
  };
  const asks = () => server.calls.filter((c) => c.method === "GET" && c.path === "/conversations/1").length;
  vi.useFakeTimers();
  try {
    for (const [what, before, news, asked] of [
      ["the first message", whatsapp, turn(1), 1],
      ["a reaction", { ...whatsapp, window }, turn(1, { author: "system", kind: "event", event: "reacted" }), 1],
      ["a file that was not taken", whatsapp, turn(1, { author: "system", kind: "event", event: "file_missing" }), 1],
      ["a further message", { ...whatsapp, window }, turn(1), 0],
      ["a reply", whatsapp, turn(1, { author: "teammate" }), 0],
      ["another event", whatsapp, turn(1, { author: "system", kind: "event", event: "flow_began" }), 0],
      ["a group", { ...whatsapp, contact: { ...contact, visitor_id: "group:1" } }, turn(1), 0],
      ["a chat", { ...whatsapp, conversation: summary({ last_seq: 0 }) }, turn(1), 0],
    ] as const) {
      server.answers.set("GET /conversations/1", before);
      inbox.open(undefined);
      inbox.open("1");
      await vi.advanceTimersByTimeAsync(0);
      const first = asks();
      server.answers.set("GET /conversations/1", { ...before, turns: [news], window });
      server.emit("conversation.updated", {
        v: 1,
        conversation: { ...before.conversation, last_seq: 1 },
        turns: [news],
      });
      await vi.advanceTimersByTimeAsync(1_000);
      expect([what, asks() - first]).toEqual([what, asked]);
      if (asked) expect(inbox.snapshot().thread!.window!.user_id).toBe("ZZ.1");
    }
  } finally {
    vi.useRealTimers();
  }
});

it("keeps the window open that a newer message has opened", async () => {
  const window = {
    until: "2026-11-25T10:00:00.000Z",
    number: "34600701234",
    sender_id: "demo",
    sender: "15550100100",
    provider: "sandbox",
  };
  server.answers.set("GET /conversations/1", {
    conversation: summary({ channel: "whatsapp" }),
    contact,
    turns: [turn(1)],
    more: false,
    window,
  });
  await inbox.reloadThread();
  server.emit("conversation.updated", {
    v: 1,
    conversation: summary({ channel: "whatsapp", last_seq: 3 }),
    turns: [turn(3, { at: "2026-11-24T12:00:00Z" })],
  });
  await inbox.reloadThread(); // whose response is from before that message
  expect(inbox.snapshot().thread!.window!.until).toBe("2026-11-25T12:00:00.000Z");
});

it("asks where a template is until it was read", async () => {
  vi.useFakeTimers();
  try {
    const sent = turn(2, { author: "system", kind: "event", event: "template_sent", notification: "n" });
    server.answers.set("GET /conversations/1", {
      conversation: summary({ channel: "whatsapp" }),
      contact,
      turns: [turn(1), sent],
      more: false,
      deliveries: [{ seq: 2, state: "sent" }],
    });
    const path = "/conversations/1/turns?after=1";
    const key = "GET /conversations/1/turns";
    server.answers.set(key, { turns: [sent], deliveries: [{ seq: 2, state: "delivered" }], more: false });
    await inbox.reloadThread();
    await vi.advanceTimersByTimeAsync(800);
    expect(inbox.snapshot().thread!.sent[2]!.state).toBe("delivered");
    server.answers.set(key, { turns: [sent], deliveries: [{ seq: 2, state: "read" }], more: false });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(inbox.snapshot().thread!.sent[2]!.state).toBe("read");
    expect(server.calls.filter((c) => c.path === path).length).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

it("shows within a minute that a teammate left whose node was killed", async () => {
  vi.useFakeTimers();
  try {
    const other = new Fake();
    const mate = { account_id: "a", name: "Ana", email: "", role: "agent", away: false };
    other.answers.set("GET /inbox/teammates", { data: [{ ...mate, present: true }] });
    const open = new Inbox(other, "me", true);
    const end = open.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(open.snapshot().teammates[0]!.present).toBe(true);
    other.answers.set("GET /inbox/teammates", { data: [{ ...mate, present: false }] });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(open.snapshot().teammates[0]!.present).toBe(false);
    end();
    const asked = other.calls.length;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(other.calls.length).toBe(asked);
  } finally {
    vi.useRealTimers();
  }
});
