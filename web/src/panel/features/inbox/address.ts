import { folders, type Folder } from "./types";

/** Address is what the address of the inbox says beside the company. */
export interface Address {
  folder?: Folder;
  closed?: boolean;
  q?: string;
  c?: string;
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (folders.includes(s.folder as Folder)) a.folder = s.folder as Folder;
  if (s.closed === true) a.closed = true;
  if (typeof s.q === "string" && s.q) a.q = s.q.slice(0, 100);
  if (typeof s.c === "string" && /^[0-9a-f-]{36}$/.test(s.c)) a.c = s.c;
  return a;
}
