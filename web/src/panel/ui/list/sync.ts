// Keeps a list up to date from a stream of events. An event says that a row has changed, not how: the row is read again, so that an
// event that comes twice, or never, leaves no row wrong. One request is under way at a time: of two, the older response could arrive
// last.
import type { LiveEvent } from "../../live";
import type { Part } from "./rows";

export interface Source<T> {
  id(row: T): string;
  /** of is the id of the row that an event is about; undefined: of no row. */
  of(e: LiveEvent): string | undefined;
  /** adds reports whether an event may bring a row into the list that was not in it. */
  adds(e: LiveEvent): boolean;
  /** open reports whether a row may change without an event. */
  open(row: T): boolean;
  /** first reads the first page; null where the list has become another one meanwhile. */
  first(): Promise<Part<T> | null>;
  some(ids: string[]): Promise<T[]>;
  rows(): T[]; // that are shown or held back
  took(page: Part<T>): void;
  changed(rows: T[]): void;
}

const together = 250; // what happens within it is read at once
const between = 1000; // from one reading of the first page to the next
const repeat = 3000; // after a failure
const most = 100;

export class Sync<T> {
  private dirty = new Set<string>();
  private first = false;
  private lastFirst = 0;
  private timer?: ReturnType<typeof setTimeout>;
  private busy = false;
  private stopped = false;

  constructor(private readonly list: Source<T>) {}

  /** happened takes an event of the stream. */
  happened(e: LiveEvent): void {
    if (e.event === "reset") {
      this.everything();
      return;
    }
    const id = this.list.of(e);
    if (id !== undefined && this.list.rows().some((r) => this.list.id(r) === id)) this.dirty.add(id);
    else if (this.list.adds(e)) this.first = true;
    else return;
    this.soon(together);
  }

  /** everything reads all again: something may have been missed. */
  everything(): void {
    for (const r of this.list.rows()) this.dirty.add(this.list.id(r));
    this.newest();
  }

  /** newest reads the first page again. */
  newest(): void {
    this.first = true;
    this.soon(0);
  }

  /** tick reads what changes without an event. */
  tick(): void {
    for (const r of this.list.rows()) if (this.list.open(r)) this.dirty.add(this.list.id(r));
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
      for (const r of page.data) asked.delete(this.list.id(r));
      this.list.took(page);
    } catch (e) {
      this.first = true;
      throw e;
    } finally {
      for (const id of asked) this.dirty.add(id);
    }
  }

  private async readSome(): Promise<void> {
    const shown = new Set(this.list.rows().map(this.list.id));
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
