// What a user has chosen for a list in this browser: its columns and views.
import { useCallback, useState } from "react";
import { useCompany, useMe } from "../../session";

/** View is a list's filters and columns under a name. */
export interface View {
  name: string;
  search: Record<string, string>;
  hidden: string[];
}

interface Memory {
  hidden?: string[];
  views?: View[];
}

const most = 20;
const texts = (x: unknown): x is string[] => Array.isArray(x) && x.every((s) => typeof s === "string");

/** memoryIn reads what is stored, which anything may have written. */
export function memoryIn(text: string | null): Memory {
  try {
    const x = JSON.parse(text ?? "{}") as Memory;
    const views = Array.isArray(x.views)
      ? x.views.filter((v) => typeof v.name === "string" && texts(v.hidden) && typeof v.search === "object")
      : undefined;
    return { hidden: texts(x.hidden) ? x.hidden : undefined, views };
  } catch {
    return {};
  }
}

/** useMemory is what is remembered of a list; `hidden` are the columns that are hidden at first. */
export function useMemory(name: string, hidden: string[]) {
  const company = useCompany();
  const me = useMe();
  const at = `carillon.list.${me.account.id}.${company.id}.${name}`;
  const read = (): Memory => {
    try {
      return memoryIn(localStorage.getItem(at));
    } catch {
      return {}; // no storage
    }
  };
  const [memory, set] = useState<Memory>(read);
  const change = useCallback(
    (to: Memory) => {
      set((was) => {
        const now = { ...was, ...to };
        try {
          localStorage.setItem(at, JSON.stringify(now));
        } catch {
          /* for the life of the page */
        }
        return now;
      });
    },
    [at],
  );
  const views = memory.views ?? [];
  return {
    hidden: memory.hidden ?? hidden,
    hide: (to: string[]) => change({ hidden: to }),
    views,
    save: (v: View) => change({ views: [...views.filter((x) => x.name !== v.name), v].slice(-most) }),
    remove: (of: string) => change({ views: views.filter((x) => x.name !== of) }),
  };
}

export type ListMemory = ReturnType<typeof useMemory>;
