// How the inbox changes as updates come. Pure: no network, no storage, no clock of its own.
import type { Author } from "../talk/types";
import type { Folder, Listed, Mark, Summary, Thread, Turn } from "./types";

export interface View {
  folder: Folder;
  closed: boolean;
  me: string;
  order: Order;
}

/** Order is that of a list: the newest activity first, or the oldest. Of those who wait, the oldest waits longest. */
export type Order = "newest" | "oldest";

/** belongs reports whether a conversation is listed in a folder. */
export function belongs(c: Summary, v: View): boolean {
  if ((c.state === "resolved") !== v.closed) return false;
  switch (v.folder) {
    case "mine":
      return c.assignee === v.me;
    case "unassigned":
      return !!c.waiting_at;
    case "unanswered":
      return !!c.unanswered;
    case "automated":
      return c.state === "bot";
    case "all":
      return true;
  }
}

/** before reports whether a conversation comes before another in a list. */
function before(a: Summary, b: Summary, v: View): boolean {
  const at = (c: Summary) => (v.order === "oldest" && v.folder === "unassigned" ? c.waiting_at : c.last_at) ?? "";
  const older = at(a) !== at(b) ? at(a) < at(b) : a.id < b.id;
  return older === (v.order === "oldest");
}

/**
 * place puts a changed conversation where it belongs in a list, or takes it out. What the list knows of the contact stays, and so
 * does the place of a conversation that is kept although it no longer belongs there.
 */
export function place(list: Listed[], c: Summary, v: View, kept: ReadonlySet<string> = new Set()): Listed[] {
  const at = list.findIndex((x) => x.id === c.id);
  if (at < 0) return list; // the list is read again: it says who the contact is
  const { name, email, number, username, group } = list[at]!;
  const row: Listed = { name, email, number, username, group, ...c };
  if (!belongs(c, v)) return kept.has(c.id) ? list.with(at, row) : list.toSpliced(at, 1);
  const others = list.toSpliced(at, 1);
  const to = others.findIndex((x) => belongs(x, v) && before(row, x, v));
  return others.toSpliced(to < 0 ? others.length : to, 0, row);
}

/** keep puts those of an earlier list that are kept back in their places in a list that was read again. */
export function keep(list: Listed[], earlier: Listed[], kept: ReadonlySet<string>): Listed[] {
  let all = list;
  earlier.forEach((c, i) => {
    if (kept.has(c.id) && !list.some((x) => x.id === c.id)) all = all.toSpliced(Math.min(i, all.length), 0, c);
  });
  return all;
}

/** waits reports whether the contact waits for the company: nobody answered what they wrote last. */
export function waits(c: Summary): boolean {
  return c.state !== "resolved" && c.state !== "bot" && (!!c.waiting_at || c.visitor_seq > c.company_seq);
}

/** merge puts turns in the order of seq, each once. */
export function merge(turns: Turn[], more: Turn[]): Turn[] {
  if (more.length === 0) return turns;
  const by = new Map(turns.map((t) => [t.seq, t]));
  for (const t of more) by.set(t.seq, t);
  return [...by.values()].sort((a, b) => a.seq - b.seq);
}

/**
 * seenTurn is the seq of the company's last message that the contact has seen; undefined once the contact has said something after it.
 * Notes and events are seen by teammates alone.
 */
export function seenTurn(turns: Turn[], seen: number): number | undefined {
  const said = turns.filter((t) => t.kind !== "event" && !t.note);
  const last = said.findLast((t) => t.author === "visitor" || t.seq <= seen);
  return last && last.author !== "visitor" ? last.seq : undefined;
}

/**
 * previewOf is what a list shows of a conversation: what was said last while a teammate has it, else the contact's
 * question, which says more than "Talk to a person" or what the agent answered. by is who said it last; undefined: the
 * contact's question.
 */
export function previewOf(c: Summary): { text: string; by?: Author } {
  const talks = c.state === "active" || c.state === "wrap_up" || c.last_author === "teammate";
  return c.question && !talks ? { text: c.question } : { text: c.last_text, by: c.last_author };
}

/** next is the id before or after one in a list; the first where none is chosen. */
export function next(list: Listed[], id: string | undefined, step: 1 | -1): string | undefined {
  const at = list.findIndex((c) => c.id === id);
  if (at < 0) return list[0]?.id;
  return list[Math.min(list.length - 1, Math.max(0, at + step))]?.id;
}

/** following is the id that opens after one has left a list: the next, or else the one before; the first if it was not listed. */
export function following(list: Listed[], id: string): string | undefined {
  const at = list.findIndex((c) => c.id === id);
  return at < 0 ? list[0]?.id : (list[at + 1] ?? list[at - 1])?.id;
}

/** Who is looking at a conversation or writing in it, until when. */
export interface Presence {
  what: "typing" | "viewing";
  author: Mark["author"];
  account: string;
  name: string;
  until: number;
}
export type Marks = Record<string, Presence[]>;

const lasts = { typing: 6_000, viewing: 35_000 };

/** mark records what somebody does in a conversation. Of one who writes nothing else is shown. */
export function mark(marks: Marks, what: "typing" | "viewing", m: Mark, now: number): Marks {
  const account = m.account_id ?? m.author;
  const rest = (marks[m.conversation_id] ?? []).filter(
    (p) => p.until > now && !(p.account === account && p.what === what),
  );
  return {
    ...marks,
    [m.conversation_id]: [...rest, { what, author: m.author, account, name: m.name ?? "", until: now + lasts[what] }],
  };
}

/** spoke ends what is shown of those who have just said something, and of an agent who no longer answers. */
export function spoke(marks: Marks, id: string, turns: Turn[], automated: boolean): Marks {
  const have = marks[id];
  if (!have) return marks;
  const done = new Set(turns.map((t) => t.account_id ?? t.author));
  if (!automated) done.add("agent");
  return { ...marks, [id]: have.filter((p) => p.what !== "typing" || !done.has(p.account)) };
}

/** current are the marks that still hold. */
export function current(marks: Marks, now: number): Marks {
  return Object.fromEntries(
    Object.entries(marks)
      .map(([id, all]) => [id, all.filter((p) => p.until > now)] as const)
      .filter(([, all]) => all.length > 0),
  );
}

/** present are those who do something in a conversation now, but for the reader. */
export function present(marks: Marks, id: string, what: "typing" | "viewing", me: string, now: number): Presence[] {
  return (marks[id] ?? []).filter((p) => p.what === what && p.account !== me && p.until > now);
}

/** matching are the canned replies that a text after "/" asks for: those whose shortcut begins so first. */
export function matching<T extends { shortcut: string; text: string }>(replies: T[], draft: string): T[] {
  const m = /^\/([\w-]*)$/.exec(draft);
  if (!m) return [];
  const asked = m[1]!.toLowerCase();
  const rank = (r: T) =>
    r.shortcut.startsWith(asked) ? 0 : r.shortcut.includes(asked) || r.text.toLowerCase().includes(asked) ? 1 : 2;
  return replies
    .filter((r) => rank(r) < 2)
    .sort((a, b) => rank(a) - rank(b) || a.shortcut.localeCompare(b.shortcut))
    .slice(0, 8);
}

/** isGroup reports whether a contact is a group, which is only read. */
export function isGroup(contact: { visitor_id: string }): boolean {
  return contact.visitor_id.startsWith("group:");
}

/** whoOver names the contact to the channel of a conversation: by the number, or by the username where the number is hidden. */
export function whoOver(thread: Pick<Thread, "window" | "contact">): string {
  return thread.window?.number || (thread.contact.username ? "@" + thread.contact.username : thread.contact.number);
}

/** hidesNumber reports whether the channel names the contact by a username alone; a number that a teammate noted changes nothing. */
export function hidesNumber(thread: Pick<Thread, "window" | "contact">): boolean {
  return !!thread.contact.user_id && !(thread.window ?? thread.contact).number;
}

/** nameOf is how a contact is called; of two visitors without a name each has another. */
export function nameOf(contact: { name?: string; username?: string } | undefined, id: string, visitor: string): string {
  return contact?.name || (contact?.username ? "@" + contact.username : `${visitor} ${id.slice(-4)}`);
}
