// What a list that changes shows, the newest row first, and what happens to it when its newest part is read again. Rows are ordered by their
// ids, which rise.

export interface Shown<T> {
  rows: T[];
  fresh: T[]; // newer rows that are held back, so that the list does not move
  cursor: string | null;
  gap: boolean; // between the fresh ones and the rows are others
}

export interface Part<T> {
  data: T[];
  next_cursor: string | null;
}

/** rowsBy are the changes of a list whose rows have that id. */
export function rowsBy<T>(id: (row: T) => string) {
  const nothing: Shown<T> = { rows: [], fresh: [], cursor: null, gap: false };
  /** begin is the list of a first page. */
  const begin = (page: Part<T>): Shown<T> => ({ rows: page.data, fresh: [], cursor: page.next_cursor, gap: false });
  return {
    nothing,
    begin,
    /** append adds the page behind the last row. */
    append(s: Shown<T>, page: Part<T>): Shown<T> {
      const known = new Set(s.rows.map(id));
      return { ...s, rows: [...s.rows, ...page.data.filter((r) => !known.has(id(r)))], cursor: page.next_cursor };
    },
    /** refresh takes the first page as it is now. still: rows must stay where they are, so new ones are held back and none is taken away. */
    refresh(s: Shown<T>, page: Part<T>, still: boolean): Shown<T> {
      const now = new Map(page.data.map((r) => [id(r), r]));
      const known = new Set(s.rows.map(id));
      const overlaps = page.data.some((r) => known.has(id(r)));
      if (s.rows.length === 0 || (!overlaps && !still)) return begin(page);
      const last = page.data[page.data.length - 1];
      const oldest = page.next_cursor === null || !last ? "" : id(last);
      const kept = s.rows.filter((r) => now.has(id(r)) || still || id(r) < oldest).map((r) => now.get(id(r)) ?? r);
      const top = s.rows[0] ? id(s.rows[0]) : "";
      const fresh = page.data.filter((r) => !known.has(id(r)) && id(r) > top);
      if (still) return { ...s, rows: kept, fresh, gap: !overlaps && page.next_cursor !== null };
      return { rows: [...fresh, ...kept], fresh: [], cursor: s.cursor, gap: false };
    },
    /** reveal shows what was held back. */
    reveal(s: Shown<T>): Shown<T> {
      return s.gap
        ? { ...s, rows: s.fresh, fresh: [], gap: false }
        : { ...s, rows: [...s.fresh, ...s.rows], fresh: [] };
    },
    /** replace puts rows as they are now where they were. */
    replace(s: Shown<T>, ...changed: T[]): Shown<T> {
      const now = new Map(changed.map((r) => [id(r), r]));
      const put = (r: T) => {
        const c = now.get(id(r));
        return c ? { ...r, ...c } : r;
      };
      return { ...s, rows: s.rows.map(put), fresh: s.fresh.map(put) };
    },
  };
}
