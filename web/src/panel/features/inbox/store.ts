// The inbox's data: what is loaded, what the stream of updates changes in it, and what the teammate does.
import { id } from "../../ui/id";
import { why } from "../../ui/problem";
import { inTurn, type Acts, type Body } from "./acts";
import { belongs, current, isGroup, keep, mark, merge, place, present, spoke, type View } from "./model";
import { listQuery } from "./query";
import { ahead, bySeq, came, opened, opens } from "./reach";
import type { Refusal, Sent, Server, Snapshot, Unsent } from "./snapshot";
import type { Contact, ContactPage, Delivery, Listed, Mark, Offered, Summary, Turn, Update } from "./types";

const typingEvery = 3_000;
const asksMost = 14; // for where a template is, further and further apart: some four minutes
const settled = new Set(["read", "failed"]);

export class Inbox {
  private state: Snapshot;
  private readonly listeners = new Set<() => void>();
  private stop?: () => void;
  private timers = new Map<string, ReturnType<typeof setTimeout>>();
  private typed = 0;
  private asked = 0;
  private asks = 0;
  /** Conversations that the teammate took: they stay in the list until it shows something else. */
  private kept = new Set<string>();
  /** Told of each update, for sounds and notifications. */
  onUpdate: (u: Update) => void = () => {};

  constructor(
    private readonly server: Server,
    readonly me: string,
    readonly mayAnswer: boolean,
    private readonly now = () => Date.now(),
  ) {
    this.state = {
      view: { folder: "unassigned", closed: false, me, order: "oldest" },
      search: "",
      list: [],
      cursor: null,
      listPhase: "loading",
      threadPhase: "loading",
      marks: {},
      connected: true,
      teammates: [],
      canned: [],
    };
  }

  readonly subscribe = (f: () => void) => {
    this.listeners.add(f);
    return () => {
      this.listeners.delete(f);
    };
  };
  readonly snapshot = () => this.state;
  private set(change: Partial<Snapshot>): void {
    this.state = { ...this.state, ...change };
    for (const f of this.listeners) f();
  }

  /** start follows the stream until the returned function is called. */
  start(): () => void {
    this.stop = this.server.follow({
      event: (name, data) => this.event(name, data),
      connected: (yes) => this.connection(yes),
    });
    void this.loadTeammates();
    void this.loadCanned();
    const viewing = setInterval(() => {
      this.viewing();
      void this.loadReach();
    }, 20_000);
    // events of presence may be lost between nodes, and a node that was killed sends none
    const team = setInterval(() => void this.loadTeammates(), 60_000);
    return () => {
      this.stop?.();
      clearInterval(viewing);
      clearInterval(team);
      for (const t of this.timers.values()) clearTimeout(t);
      this.timers.clear();
    };
  }

  /** later runs f once after a pause, however often it is asked. */
  private later(name: string, f: () => void, pause = 300): void {
    if (this.timers.has(name)) return;
    this.timers.set(
      name,
      setTimeout(() => {
        this.timers.delete(name);
        f();
      }, pause),
    );
  }

  private connection(yes: boolean): void {
    const before = this.state.connected;
    this.set({ connected: yes });
    if (yes && !before) {
      // what happened meanwhile is read again
      void this.loadList();
      void this.loadNewTurns();
      void this.loadTeammates();
    }
  }

  private event(name: string, data: unknown): void {
    const now = this.now();
    if (name === "conversation.updated") this.updated(data as Update);
    else if (name === "typing" || name === "viewing") {
      const m = data as Mark;
      const known = present(this.state.marks, m.conversation_id, "viewing", this.me, now).some(
        (p) => p.account === m.account_id,
      );
      this.set({ marks: mark(this.state.marks, name, m, now) });
      this.fade();
      if (name === "viewing" && !known && m.account_id !== this.me && m.conversation_id === this.state.id)
        this.later("viewing", () => this.viewing());
    } else if (name === "delivery") {
      const d = data as Delivery & { conversation_id: string };
      if (this.state.thread?.conversation.id === d.conversation_id) this.stands([d]);
    } else if (name === "presence") {
      const p = data as { account_id: string; present: boolean; away: boolean };
      if (!this.state.teammates.some((t) => t.account_id === p.account_id)) void this.loadTeammates();
      this.set({
        teammates: this.state.teammates.map((t) =>
          t.account_id === p.account_id ? { ...t, present: p.present, away: p.away } : t,
        ),
      });
    }
  }

  /** fade takes away what people did a while ago, as long as there is any. */
  private fade(): void {
    this.later(
      "fade",
      () => {
        const marks = current(this.state.marks, this.now());
        this.set({ marks });
        if (Object.keys(marks).length > 0) this.fade();
      },
      2_000,
    );
  }

  private updated(u: Update): void {
    const { list, view, thread, search } = this.state;
    const c = u.conversation;
    const known = list.some((x) => x.id === c.id);
    this.set({
      list: place(list, c, view, this.kept),
      marks: spoke(this.state.marks, c.id, u.turns, c.state === "bot"),
    });
    if (!known && !search && belongs(c, view)) this.later("list", () => void this.loadList());
    this.later("counts", () => void this.loadCounts());
    if (thread?.conversation.id === c.id) {
      const last = thread.turns[thread.turns.length - 1]?.seq ?? 0;
      if (u.turns.length > 0 && u.turns[0]!.seq > last + 1) void this.loadNewTurns();
      this.patch(c, u.turns);
      if (u.review && this.state.thread) this.set({ thread: { ...this.state.thread, review: u.review } });
      if (u.turns.some((t) => t.event === "introduced")) void this.reloadThread();
      if (u.turns.some((t) => t.voice)) this.later("spoken", () => void this.reloadThread(), 2_500); // what was heard of a turn is known after it
    }
    this.onUpdate(u);
  }

  /** stands records where replies are. A receipt may overtake the response to the request. */
  private stands(deliveries: Delivery[] | undefined): void {
    const { thread } = this.state;
    const news = ahead(deliveries, thread?.sent);
    if (!thread || news.length === 0) return;
    this.set({ thread: { ...thread, sent: { ...thread.sent, ...bySeq(news) } } });
  }

  /** followTemplates asks where templates are that were sent from here: what happens to them is no event of the inbox. */
  private followTemplates(): void {
    const { thread } = this.state;
    const id = thread?.conversation.id;
    const first = thread?.turns.find(
      (t) => t.event === "template_sent" && t.notification && !settled.has(thread.sent[t.seq]?.state ?? ""),
    );
    if (!id || !first || this.asks >= asksMost) return;
    this.later(
      "templates",
      () => {
        if (this.state.id !== id) return;
        this.asks++;
        void this.server.request("get", `/conversations/${id}/turns`, { query: { after: first.seq - 1 } }).then(
          (found) => {
            if (this.state.id !== id) return;
            this.stands(found.deliveries);
            this.followTemplates();
          },
          () => {
            /* the next thing that happens asks again */
          },
        );
      },
      700 * 1.4 ** this.asks,
    );
  }

  /** patch puts a conversation as it is now, and new turns, into the thread. */
  private patch(c: Summary | undefined, turns: Turn[]): void {
    const thread = this.state.thread;
    if (!thread || (c && c.id !== thread.conversation.id)) return;
    const ids = new Set(turns.map((t) => t.client_id).filter(Boolean));
    const before = thread.conversation;
    // the response to a reply may come after the event that it was seen
    const newer =
      c && c.last_seq >= before.last_seq ? { ...c, seen_seq: Math.max(c.seen_seq, before.seen_seq) } : before;
    this.set({
      thread: {
        ...thread,
        conversation: newer,
        turns: merge(thread.turns, turns),
        window: opened(thread.window, turns),
        reach: came(thread.reach, turns),
        unsent: thread.unsent.filter((u) => !ids.has(u.client_id)),
      },
    });
    // A thread that was opened before the contact's first message was there has no window yet, and events do not say when the contact wrote.
    if (opens(turns, thread.window) && newer.channel === "whatsapp" && !isGroup(thread.contact))
      this.later("window", () => void this.reloadThread());
    if (turns.some((t) => t.event === "template_sent")) this.asks = 0;
    this.followTemplates();
    this.read();
  }

  show(view: Omit<View, "me">, search: string): void {
    this.kept.clear();
    this.set({ view: { ...view, me: this.me }, search, list: [], cursor: null, listPhase: "loading" });
    void this.loadList();
  }

  async loadList(): Promise<void> {
    const query = listQuery(this.state.view, this.state.search);
    const asked = ++this.asked;
    try {
      const page = await this.server.request("get", "/conversations", { query });
      if (asked === this.asked) {
        const list = keep(page.data, this.state.list, this.kept);
        this.set({ list, cursor: page.next_cursor, listPhase: "ready" });
      }
    } catch {
      if (asked === this.asked) this.set({ listPhase: "failed" });
    }
    void this.loadCounts();
  }

  async loadMore(): Promise<void> {
    const { cursor, view, search } = this.state;
    if (!cursor) return;
    const asked = this.asked;
    const query = listQuery(view, search, cursor);
    const page = await this.server.request("get", "/conversations", { query }).catch(() => null);
    if (!page || asked !== this.asked) return;
    const have = new Set(this.state.list.map((c) => c.id));
    this.set({ list: [...this.state.list, ...page.data.filter((c) => !have.has(c.id))], cursor: page.next_cursor });
  }

  async loadCounts(): Promise<void> {
    const counts = await this.server.request("get", "/conversations/counts").catch(() => undefined);
    if (counts) this.set({ counts });
  }

  async loadTeammates(): Promise<void> {
    const found = await this.server.request("get", "/inbox/teammates").catch(() => undefined);
    if (found) this.set({ teammates: found.data });
  }

  async loadCanned(): Promise<void> {
    const found = await this.server.request("get", "/canned-replies").catch(() => undefined);
    if (found) this.set({ canned: found.data });
  }

  open(id: string | undefined): void {
    if (id === this.state.id && this.state.threadPhase !== "failed") return;
    this.set({ id, thread: undefined, threadPhase: "loading" });
    if (id) void this.reloadThread();
  }

  async reloadThread(): Promise<void> {
    const id = this.state.id;
    if (!id) return;
    try {
      const t = await this.server.request("get", `/conversations/${id}`);
      if (this.state.id !== id) return;
      const old = this.state.thread;
      const turns = merge(old?.turns ?? [], t.turns);
      this.set({
        threadPhase: "ready",
        thread: {
          ...t,
          turns,
          window: opened(t.window, turns),
          more: old ? old.more : t.more,
          unsent: old?.unsent ?? [],
          sent: { ...old?.sent, ...bySeq(t.deliveries ?? []) },
        },
      });
      this.asks = 0;
      this.followTemplates();
      this.viewing();
      this.read();
    } catch {
      if (this.state.id === id && !this.state.thread) this.set({ threadPhase: "failed" });
    }
  }

  private async loadNewTurns(): Promise<void> {
    const thread = this.state.thread;
    if (!thread) return;
    const id = thread.conversation.id;
    for (;;) {
      const turns = this.state.thread?.turns ?? [];
      const found = await this.server
        .request("get", `/conversations/${id}/turns`, { query: { after: turns[turns.length - 1]?.seq ?? 0 } })
        .catch(() => null);
      if (!found || this.state.thread?.conversation.id !== id) return;
      this.patch(undefined, found.turns);
      this.stands(found.deliveries);
      if (!found.more || found.turns.length === 0) break;
    }
    void this.reloadThread();
  }

  async older(): Promise<void> {
    const thread = this.state.thread;
    if (!thread?.more || thread.turns.length === 0) return;
    const id = thread.conversation.id;
    const found = await this.server
      .request("get", `/conversations/${id}/turns`, { query: { before: thread.turns[0]!.seq } })
      .catch(() => null);
    const now = this.state.thread;
    if (found && now?.conversation.id === id)
      this.set({
        thread: {
          ...now,
          turns: merge(found.turns, now.turns),
          more: found.more,
          sent: { ...bySeq(found.deliveries ?? []), ...now.sent },
        },
      });
  }

  /** loadReach asks whether the visitor of a page is still there: what they do not do is no event. */
  private async loadReach(): Promise<void> {
    const { thread } = this.state;
    if (!thread?.reach || thread.conversation.state === "bot" || document.visibilityState !== "visible") return;
    const id = thread.conversation.id;
    const reach = await this.server.request("get", `/conversations/${id}/reach`).catch(() => undefined);
    const now = this.state.thread;
    if (reach && now?.conversation.id === id) this.set({ thread: { ...now, reach } });
  }

  /** read tells the server what is on the screen, while somebody looks at it. */
  read(): void {
    const c = this.state.thread?.conversation;
    if (!c?.unread || !this.mayAnswer || document.visibilityState !== "visible") return;
    this.later(
      "read",
      () => {
        if (this.state.id === c.id) void this.change(c.id, "read", { seq: c.last_seq });
      },
      400,
    );
  }

  private viewing(): void {
    const { id } = this.state;
    if (id && this.mayAnswer && document.visibilityState === "visible") void this.change(id, "viewing");
  }

  typing(): void {
    const { id } = this.state;
    if (!id || this.now() - this.typed < typingEvery) return;
    this.typed = this.now();
    void this.change(id, "typing");
  }

  /** change asks for a change of which nobody waits for the outcome. */
  private async change(id: string, what: "read" | "typing" | "viewing", body?: Body<"read">): Promise<void> {
    await this.server.request("post", `/conversations/${id}/${what}`, { body }).catch(() => undefined);
  }

  /** act changes the chosen conversation; it rejects with a Refusal. */
  async act<W extends Exclude<keyof Acts, "tags">>(what: W, body?: Acts[W]): Promise<void> {
    const { id } = this.state;
    if (!id) return;
    if (what === "take" || what === "assign") this.kept.add(id);
    const at = `/conversations/${id}/${what as keyof Acts}` as `/conversations/${string}/take`;
    const { conversation } = await this.server.request("post", at, { body: (body ?? {}) as Acts["take"] });
    this.acted(conversation);
  }

  /** undo takes back the teammate's last change of a conversation; it rejects with a Refusal. */
  async undo(id: string): Promise<void> {
    const { conversation } = await this.server.request("post", `/conversations/${id}/undo`);
    this.acted(conversation);
    this.later("list", () => void this.loadList());
  }

  /** each changes several conversations, a few at a time, and returns those that were changed and the first refusal. */
  private each(all: Listed[], change: (c: Listed) => Promise<Summary | undefined>) {
    return inTurn(all, async (c) => {
      const now = await change(c);
      if (now) this.acted(now);
    });
  }

  /** assignAll gives conversations to a teammate. */
  assignAll(all: Listed[], account_id: string) {
    for (const c of all) this.kept.add(c.id);
    return this.each(all, async (c) => {
      const body = { account_id };
      return (await this.server.request("post", `/conversations/${c.id}/assign`, { body })).conversation;
    });
  }

  resolveAll(all: Listed[]) {
    return this.each(
      all.filter((c) => c.state !== "resolved"),
      async (c) => (await this.server.request("post", `/conversations/${c.id}/resolve`, { body: {} })).conversation,
    );
  }

  /** tagAll adds a tag to conversations, or sets the tags that they had. */
  tagAll(all: Listed[], tag?: string) {
    return this.each(all, async (c) => {
      const body = { tags: tag ? [...new Set([...c.tags, tag])] : c.tags };
      return (await this.server.request("put", `/conversations/${c.id}/tags`, { body })).conversation;
    });
  }

  undoAll(all: Listed[]) {
    return this.each(all, async (c) => {
      await this.undo(c.id);
      return undefined;
    });
  }

  /** tag sets the tags of the chosen conversation; it rejects with a Refusal. */
  async tag(body: Acts["tags"]): Promise<void> {
    const { id } = this.state;
    if (!id) return;
    const { conversation } = await this.server.request("put", `/conversations/${id}/tags`, { body });
    this.acted(conversation);
  }

  private acted(conversation: Summary): void {
    this.set({ list: place(this.state.list, conversation, this.state.view, this.kept) });
    this.patch(conversation, []);
    this.later("counts", () => void this.loadCounts());
  }

  /** say sends an answer or a note. seen is the company's last turn that the teammate had seen; undefined: send whatever came. */
  say(text: string, note: boolean, seen: number | undefined, client_id: string = id()): Promise<Sent> {
    return this.send(note ? "notes" : "answers", { text, note, client_id }, () =>
      Promise.resolve(note ? { client_id, text } : { client_id, text, seen }),
    );
  }

  /** ask sends a text with a button by which the contact shares their number, or allows calls. */
  ask(what: "number" | "calls", text: string, seen: number | undefined, client_id: string = id()): Promise<Sent> {
    const asked = what === "number" ? { ask_number: true } : { ask_calls: true };
    return this.send("answers", { text, note: false, client_id }, () =>
      Promise.resolve({ client_id, text, seen, ...asked }),
    );
  }

  /** sendFile sends a file as an answer. */
  sendFile(file: File): Promise<Sent> {
    const at = this.state.id;
    const client_id = id();
    return this.send("answers", { text: file.name, note: false, client_id }, async () => {
      const body = new FormData();
      body.append("file", file);
      const kept = await this.server.request("post", `/conversations/${at!}/files`, { body });
      return { client_id, file: kept.id };
    });
  }

  private async send(
    route: "answers" | "notes",
    said: Omit<Unsent, "at">,
    body: () => Promise<Body<"answers">> | Promise<Body<"notes">>,
  ): Promise<Sent> {
    const thread = this.state.thread;
    if (!thread) return { result: "failed", why: "" };
    const at = `/conversations/${thread.conversation.id}/${route}` as const;
    if (!said.note) this.kept.add(thread.conversation.id);
    const unsent: Unsent = { ...said, at: new Date(this.now()).toISOString() };
    this.set({
      thread: { ...thread, unsent: [...thread.unsent.filter((u) => u.client_id !== said.client_id), unsent] },
    });
    try {
      const { turn, conversation } = await this.server.request("post", at, { body: await body() });
      this.patch(conversation, turn ? [turn] : []);
      this.set({ list: place(this.state.list, conversation, this.state.view, this.kept) });
      const turns = this.state.thread?.turns ?? [];
      if (turns.some((t, i) => i > 0 && t.seq !== turns[i - 1]!.seq + 1)) void this.loadGap();
      return { result: "sent" };
    } catch (e) {
      const refusal = e as Refusal;
      this.drop(said.client_id);
      if (refusal.status === 409 && refusal.details?.assignee)
        return { result: "taken", by: refusal.details.assignee_name ?? "" };
      if (refusal.status === 409) void this.reloadThread();
      if (refusal.status === 409 && refusal.details?.window === "closed") return { result: "closed" };
      if (refusal.status === 409) return { result: "answered" };
      return { result: "failed", why: why(e) };
    }
  }

  /** loadGap reads the turns that came between those on the screen. */
  private async loadGap(): Promise<void> {
    const turns = this.state.thread?.turns ?? [];
    const gap = turns.findIndex((t, i) => i > 0 && t.seq !== turns[i - 1]!.seq + 1);
    const id = this.state.id;
    if (gap < 0) return;
    const found = await this.server
      .request("get", `/conversations/${id}/turns`, { query: { after: turns[gap - 1]!.seq } })
      .catch(() => null);
    if (found && this.state.id === id) this.patch(undefined, found.turns);
  }

  private drop(client_id: string): void {
    const thread = this.state.thread;
    if (thread) this.set({ thread: { ...thread, unsent: thread.unsent.filter((u) => u.client_id !== client_id) } });
  }

  /** templates are those that the conversation's sender may send. */
  async templates(): Promise<Offered[]> {
    return (await this.server.request("get", `/conversations/${this.state.id!}/templates`)).data;
  }

  /** sendTemplate sends a template to the contact; it rejects with a Refusal. The client id makes a repetition of it the same. */
  async sendTemplate(
    client_id: string,
    name: string,
    language: string,
    variables: Record<string, string>,
  ): Promise<void> {
    const { turn, conversation } = await this.server.request("post", `/conversations/${this.state.id!}/templates`, {
      body: { client_id, name, language, variables },
    });
    this.patch(conversation, turn ? [turn] : []);
    this.set({ list: place(this.state.list, conversation, this.state.view, this.kept) });
  }

  contactPage(id: string): Promise<ContactPage> {
    return this.server.request("get", `/conversations/${id}/contact`);
  }

  async setContact(change: Partial<Pick<Contact, "name" | "email" | "number">>): Promise<void> {
    const thread = this.state.thread;
    if (!thread) return;
    const { contact } = await this.server.request("put", `/conversations/${thread.conversation.id}/contact`, {
      body: change,
    });
    const now = this.state.thread;
    if (now?.contact.id === contact.id) this.set({ thread: { ...now, contact } });
    this.set({
      list: this.state.list.map((c) =>
        c.contact_id === contact.id ? { ...c, name: contact.name, email: contact.email } : c,
      ),
    });
  }

  async setAway(away: boolean): Promise<void> {
    await this.server.request("put", "/inbox/presence", { body: { away } });
    this.set({
      teammates: this.state.teammates.map((t) => (t.account_id === this.me ? { ...t, present: true, away } : t)),
    });
  }

  async saveCanned(reply: { id?: string; shortcut: string; text: string }): Promise<void> {
    const body = { shortcut: reply.shortcut, text: reply.text };
    if (reply.id) await this.server.request("put", `/canned-replies/${reply.id}`, { body });
    else await this.server.request("post", "/canned-replies", { body });
    await this.loadCanned();
  }

  async removeCanned(id: string): Promise<void> {
    await this.server.request("delete", `/canned-replies/${id}`);
    await this.loadCanned();
  }
}
