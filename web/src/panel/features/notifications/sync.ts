// Keeps a list of notifications up to date from the stream of events. An event says that a notification has changed, not how: its row
// is read again, so that an event that comes twice, or never, leaves no row wrong. One request is under way at a time: of two, the older
// response could arrive last.
import type { LiveEvent } from "../../live";
import type { Part } from "../../ui/rows";
import { open, type Sent } from "./types";

export interface List {
  /** first reads the first page; null where the list has become another one meanwhile. */
  first(): Promise<Part<Sent> | null>;
  some(ids: string[]): Promise<Sent[]>;
  rows(): Sent[]; // that are shown or held back
  took(page: Part<Sent>): void;
  changed(rows: Sent[]): void;
  /** moves reports whether a change may bring a row into the list that was not in it. */
  moves(): boolean;
}

const together = 250; // what happens within it is read at once
const between = 1000; // from one reading of the first page to the next
const repeat = 3000; // after a failure
const most = 100;

export class Sync {
  private dirty = new Set<string>();
  private first = false;
  private lastFirst = 0;
  private timer?: ReturnType<typeof setTimeout>;
  private busy = false;
  private stopped = false;

  constructor(private readonly list: List) {}

  /** happened takes an event of the stream. */
  happened(e: LiveEvent): void {
    if (e.event === "reset") {
      this.everything();
      return;
    }
    const id = (e.data as { data?: { notification_id?: string } } | null)?.data?.notification_id;
    if (id === undefined) return;
    if (this.list.rows().some((r) => r.notification_id === id)) this.dirty.add(id);
    else if (e.event === "notification.accepted" || this.list.moves()) this.first = true;
    this.soon(together);
  }

  /** everything reads all again: something may have been missed. */
  everything(): void {
    for (const r of this.list.rows()) this.dirty.add(r.notification_id);
    this.first = true;
    this.soon(0);
  }

  /** tick reads what goes on by itself: that a message is queued or being sent is no event. */
  tick(): void {
    for (const r of this.list.rows()) if (open(r)) this.dirty.add(r.notification_id);
    if (this.dirty.size > 0) this.soon(0);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private soon(ms: number): void {
    if (this.stopped || this.busy || this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.run();
    }, ms);
  }

  private async run(): Promise<void> {
    this.busy = true;
    let pause = together;
    try {
      const due = this.first && Date.now() - this.lastFirst >= between;
      await (due ? this.readFirst() : this.readSome());
    } catch {
      pause = repeat;
    }
    this.busy = false;
    if (this.dirty.size > 0) this.soon(pause);
    else if (this.first) this.soon(Math.max(pause, between - (Date.now() - this.lastFirst)));
  }

  private async readFirst(): Promise<void> {
    const asked = this.dirty; // what changes from now on is not in the response for sure
    this.dirty = new Set();
    this.first = false;
    this.lastFirst = Date.now();
    try {
      const page = await this.list.first();
      if (this.stopped) return;
      if (!page) {
        this.first = true;
        return;
      }
      for (const r of page.data) asked.delete(r.notification_id);
      this.list.took(page);
    } catch (e) {
      this.first = true;
      throw e;
    } finally {
      for (const id of asked) this.dirty.add(id);
    }
  }

  private async readSome(): Promise<void> {
    const shown = new Set(this.list.rows().map((r) => r.notification_id));
    const ids = [...this.dirty].filter((id) => shown.has(id)).slice(0, most);
    for (const id of this.dirty) if (!shown.has(id) || ids.includes(id)) this.dirty.delete(id);
    if (ids.length === 0) return;
    try {
      const rows = await this.list.some(ids);
      if (!this.stopped) this.list.changed(rows);
    } catch (e) {
      for (const id of ids) this.dirty.add(id);
      throw e;
    }
  }
}
