// How a teammate wants the inbox, kept in this browser.
import type { Order } from "./model";
import { folders, type Folder } from "./types";

const key = "carillon.inbox.prefs";

interface Prefs {
  order: Partial<Record<Folder, Order>>;
  /** After a conversation is resolved, the next one opens. */
  next: boolean;
}

function stored(): Prefs {
  try {
    const { order = {}, next = true } = JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Prefs>;
    return { order, next };
  } catch {
    return { order: {}, next: true };
  }
}

let now = stored();

function keep(to: Prefs): void {
  now = to;
  try {
    localStorage.setItem(key, JSON.stringify(to));
  } catch {
    /* private mode: kept for this page */
  }
}

/** orderOf is the order of a folder: those who wait longest come first, elsewhere the newest. */
export function orderOf(folder: Folder): Order {
  const kept = now.order[folder];
  if (kept === "newest" || kept === "oldest") return kept;
  return folder === "unassigned" ? "oldest" : "newest";
}

export function setOrder(folder: Folder, order: Order): void {
  if (folders.includes(folder)) keep({ ...now, order: { ...now.order, [folder]: order } });
}

export const opensNext = () => now.next;
export const setOpensNext = (next: boolean) => keep({ ...now, next });
