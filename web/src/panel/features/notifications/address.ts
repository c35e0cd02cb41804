import { kinds, notificationStates, type Kind, type NotificationState } from "./types";

/** Address is what the address of the list says beside the company. */
export interface Address {
  state?: NotificationState;
  channel?: "messaging" | "voice";
  type?: Kind;
  campaign?: string;
  sender?: string;
  number?: string;
  from?: string;
  to?: string;
}

const day = /^\d{4}-\d\d-\d\d$/;

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (notificationStates.includes(s.state as NotificationState)) a.state = s.state as NotificationState;
  if (s.channel === "messaging" || s.channel === "voice") a.channel = s.channel;
  if (kinds.includes(s.type as Kind)) a.type = s.type as Kind;
  for (const name of ["campaign", "sender", "number"] as const) {
    const v = typeof s[name] === "number" ? String(s[name]) : s[name];
    if (typeof v === "string" && v.trim()) a[name] = v.slice(0, 255);
  }
  for (const name of ["from", "to"] as const)
    if (typeof s[name] === "string" && day.test(s[name]) && !Number.isNaN(Date.parse(s[name]))) a[name] = s[name];
  return a;
}

/** queryOf is the query of the route that lists notifications: days are the viewer's, the last one included. */
export function queryOf(a: Address): Record<string, string | undefined> {
  const at = (date: string | undefined, more: number) => {
    if (!date) return undefined;
    const [y, m, d] = date.split("-").map(Number);
    return new Date(y!, m! - 1, d! + more).toISOString().replace(/\.\d+Z$/, "Z");
  };
  return { ...a, from: at(a.from, 0), to: at(a.to, 1) };
}

export function narrowed(a: Address): boolean {
  return Object.keys(a).length > 0;
}

export const nothing: Record<keyof Address, undefined> = {
  state: undefined,
  channel: undefined,
  type: undefined,
  campaign: undefined,
  sender: undefined,
  number: undefined,
  from: undefined,
  to: undefined,
};

/** idIn reports whether a text may be the id of a notification or message, ours or the provider's. */
export function idIn(text: string): boolean {
  return /^[\w.:=+/-]{8,255}$/.test(text) && /\d/.test(text);
}
