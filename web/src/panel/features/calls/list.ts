// What the list of calls shows, and what happens to it when the newest part of it is read again.
import type { CallRow } from "./types";

export interface Shown {
  rows: CallRow[];
  fresh: CallRow[]; // newer calls that are held back, so that the list does not move
  cursor: string | null;
  gap: boolean; // between the fresh ones and the rows are others
}

export const nothing: Shown = { rows: [], fresh: [], cursor: null, gap: false };

/** begin is the list of a first page. */
export function begin(page: { data: CallRow[]; next_cursor: string | null }): Shown { return { rows: page.data, fresh: [], cursor: page.next_cursor, gap: false }; }

/** append adds the page behind the last row. */
export function append(s: Shown, page: { data: CallRow[]; next_cursor: string | null }): Shown {
  const known = new Set(s.rows.map((r) => r.call_id));
  return { ...s, rows: [...s.rows, ...page.data.filter((r) => !known.has(r.call_id))], cursor: page.next_cursor };
}

/** refresh takes the first page as it is now. still: rows must stay where they are, so new ones are held back and none is taken away. */
export function refresh(s: Shown, page: { data: CallRow[]; next_cursor: string | null }, still: boolean): Shown {
  const now = new Map(page.data.map((r) => [r.call_id, r]));
  const known = new Set(s.rows.map((r) => r.call_id));
  const overlaps = page.data.some((r) => known.has(r.call_id));
  if (s.rows.length === 0 || (!overlaps && !still)) return begin(page);
  const oldest = page.next_cursor === null ? "" : (page.data[page.data.length - 1]?.call_id ?? "");
  const kept = s.rows.filter((r) => now.has(r.call_id) || still || r.call_id < oldest).map((r) => now.get(r.call_id) ?? r);
  const fresh = page.data.filter((r) => !known.has(r.call_id) && r.call_id > (s.rows[0]?.call_id ?? ""));
  if (still) return { ...s, rows: kept, fresh, gap: !overlaps && page.next_cursor !== null };
  return { rows: [...fresh, ...kept], fresh: [], cursor: s.cursor, gap: false };
}

/** reveal shows what was held back. */
export function reveal(s: Shown): Shown {
  return s.gap ? { ...s, rows: s.fresh, fresh: [], gap: false } : { ...s, rows: [...s.fresh, ...s.rows], fresh: [] };
}

/** replace puts a call as it is now in its row. */
export function replace(s: Shown, call: CallRow): Shown { return { ...s, rows: s.rows.map((r) => (r.call_id === call.call_id ? { ...r, ...call } : r)) }; }
