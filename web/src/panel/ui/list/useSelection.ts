import { useCallback, useMemo, useRef, useState } from "react";

/** most is how many rows can be selected. */
export const most = 500;

/** useSelection holds the selected rows of a list, among those that are shown. */
export function useSelection<T>(rows: T[], id: (row: T) => string) {
  const [ids, set] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<string>(undefined);
  const selected = useMemo(() => rows.filter((r) => ids.has(id(r))), [rows, ids, id]);
  const now = useRef(rows);
  now.current = rows;
  /** toggle changes a row; with `range`, those from the last changed one to this one too. */
  const toggle = useCallback(
    (of: string, range = false) => {
      set((was) => {
        const next = new Set(was);
        const on = !was.has(of);
        const all = now.current.map(id);
        const [a, b] = [all.indexOf(anchor.current ?? ""), all.indexOf(of)];
        const part = range && a >= 0 ? all.slice(Math.min(a, b), Math.max(a, b) + 1) : [of];
        for (const x of part) {
          if (!on) next.delete(x);
          else if (next.size < most) next.add(x);
        }
        anchor.current = of;
        return next;
      });
    },
    [id],
  );
  const choose = useCallback((of: string[]) => set(new Set(of.slice(0, most))), []);
  return { selected, has: (of: string) => ids.has(of), toggle, choose };
}

export type Selection<T> = ReturnType<typeof useSelection<T>>;
