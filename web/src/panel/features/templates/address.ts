import { statuses, type Status } from "./types";

/** Address is what the address of the list says beside the company. */
export interface Address {
  status?: Status;
  language?: string;
  q?: string;
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (statuses.includes(s.status as Status)) a.status = s.status as Status;
  if (typeof s.language === "string" && s.language) a.language = s.language.slice(0, 20);
  if (s.q !== undefined && String(s.q).trim()) a.q = String(s.q).slice(0, 100);
  return a;
}

/** newAddressOf is the address of the editor of a new template: copy is the id of the one that it begins as. */
export function newAddressOf(s: Record<string, unknown>): { copy?: string } {
  return /^\d{1,32}$/.test(String(s.copy ?? "")) ? { copy: String(s.copy) } : {};
}
