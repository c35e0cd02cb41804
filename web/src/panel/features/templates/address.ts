import { statuses, type Status } from "./types";
import { textOf } from "../../next";

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
  const q = textOf(s.q, 100);
  if (typeof s.language === "string" && s.language) a.language = s.language.slice(0, 20);
  if (q) a.q = q;
  return a;
}

/** newAddressOf is the address of the editor of a new template: copy is the id of the one that it begins as. */
export function newAddressOf(s: Record<string, unknown>): { copy?: string } {
  const copy = textOf(s.copy);
  return copy && /^\d{1,32}$/.test(copy) ? { copy } : {};
}
