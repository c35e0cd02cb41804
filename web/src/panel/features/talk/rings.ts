// Which visitors ring: they are on the line and wait for a person.
import type { Conversation } from "./types";

export interface Ring {
  id: string;
  contact: string;
  name: string;
  since: string;
  agent: boolean;
  page?: string;
}

export function rings(c: Conversation): boolean {
  return c.channel === "web_voice" && c.state === "queued";
}

/** ringing is the list after a conversation has changed: who waits longest comes first. */
export function ringing(list: Ring[], c: Conversation, name = ""): Ring[] {
  const have = list.find((r) => r.id === c.id);
  if (!rings(c)) return have ? list.filter((r) => r !== have) : list;
  const one: Ring = {
    id: c.id,
    contact: c.contact_id,
    name: name || have?.name || "",
    since: c.state_at,
    agent: !!c.agent_id,
    page: c.page,
  };
  return [...list.filter((r) => r !== have), one].sort((a, b) =>
    a.since < b.since ? -1 : a.since > b.since ? 1 : a.id < b.id ? -1 : 1,
  );
}

/** waited is how long, such as 1:05. */
export function waited(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (n: number) => String(n).padStart(2, "0");
  return seconds < 3600
    ? `${Math.floor(seconds / 60)}:${two(seconds % 60)}`
    : `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
