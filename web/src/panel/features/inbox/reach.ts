// How replies reach the contact of a conversation: the window for them, and their receipts.
import type { Delivery, Thread, Turn } from "./types";

const windowLasts = 24 * 3_600_000;

/** opened is a window after more turns: what the contact says opens it again. */
export function opened(w: Thread["window"], turns: Turn[]): Thread["window"] {
  if (!w) return w;
  const said = turns
    .filter((t) => t.author === "visitor" && t.kind !== "event")
    .map((t) => Date.parse(t.at) + windowLasts);
  const until = Math.max(Date.parse(w.until), ...said);
  return until === Date.parse(w.until) ? w : { ...w, until: new Date(until).toISOString() };
}

/** came is how replies reach the visitor after more turns: who writes is there. */
export function came(reach: Thread["reach"], turns: Turn[]): Thread["reach"] {
  return reach && turns.some((t) => t.author === "visitor") ? { ...reach, connected: true } : reach;
}

/** received is how far a reply has come with the person, as far as receipts say. */
function received(state: string | undefined): number {
  return state === "read" ? 2 : state === "delivered" ? 1 : 0;
}

export function bySeq(all: Delivery[]): Record<number, Delivery> {
  return Object.fromEntries(all.map((d) => [d.seq, d]));
}

/** ahead are the receipts that are not behind those known: what was delivered or read is no less for a later "sent". */
export function ahead(all: Delivery[] | undefined, known: Record<number, Delivery> | undefined): Delivery[] {
  return (all ?? []).filter((d) => received(d.state) >= received(known?.[d.seq]?.state));
}

/** Events that stand for a message of the contact, which opens the window for replies as a turn does. */
const written = new Set(["reacted", "call_permission", "file_missing", "not_shown"]);

/** opens reports whether turns may have opened a window that the page does not know. */
export function opens(turns: Turn[], window: Thread["window"]): boolean {
  return turns.some((t) =>
    t.author === "visitor" && t.kind !== "event" ? !window : !t.phone_app && written.has(t.event ?? ""),
  );
}
