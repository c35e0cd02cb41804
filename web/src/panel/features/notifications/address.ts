import { noRange, rangeOf, spanOf, type Range } from "../../ui/list/range";
import { kinds, stateFilters, type Kind, type StateFilter } from "./types";
import { isUserID } from "../../ui/number";
import { textOf } from "../../next";

/** Address is what the address of the list says beside the company. */
export interface Address extends Range {
  state?: StateFilter;
  channel?: "messaging" | "voice";
  type?: Kind;
  campaign?: string;
  sender?: string;
  number?: string;
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = rangeOf(s);
  if (stateFilters.includes(s.state as StateFilter)) a.state = s.state as StateFilter;
  if (s.channel === "messaging" || s.channel === "voice") a.channel = s.channel;
  if (kinds.includes(s.type as Kind)) a.type = s.type as Kind;
  for (const name of ["campaign", "sender", "number"] as const) {
    const text = textOf(s[name]);
    if (text) a[name] = text;
  }
  return a;
}

/** queryOf is the query of the route that lists notifications. */
export function queryOf({ range, from, to, state, ...a }: Address): Record<string, string | undefined> {
  const by = state === "failed" ? { failed: "true" } : { state };
  if (a.number && isUserID(a.number))
    return { ...a, number: undefined, user_id: a.number, ...by, ...spanOf({ range, from, to }) };
  return { ...a, ...by, ...spanOf({ range, from, to }) };
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
  ...noRange,
};

/** idIn reports whether a text may be the id of a notification or message, ours or the provider's. */
export function idIn(text: string): boolean {
  return /^[\w.:=+/-]{8,255}$/.test(text) && /\d/.test(text);
}
