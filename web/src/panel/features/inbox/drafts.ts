// What a teammate has begun to write, by conversation; kept over a reload of the page, for this tab.
const key = "carillon.inbox.draft.";
const memory = new Map<string, string>();

export function draftOf(id: string): string {
  try {
    return sessionStorage.getItem(key + id) ?? memory.get(id) ?? "";
  } catch {
    return memory.get(id) ?? "";
  }
}

export function keepDraft(id: string, text: string): void {
  memory.set(id, text);
  try {
    if (text) sessionStorage.setItem(key + id, text);
    else sessionStorage.removeItem(key + id);
  } catch {
    /* kept in memory */
  }
}
