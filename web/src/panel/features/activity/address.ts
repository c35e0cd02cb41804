import { noRange, rangeOf, type Range } from "../../ui/list/range";
import { codes, kinds, type Code, type Kind } from "./types";
import { textOf } from "../../next";

/** Address is what the address of the page says in addition to the company: the id of what is opened. */
export interface Address extends Range {
  id?: string;
  status?: "4xx" | "5xx" | "accepted";
  code?: Code;
  path?: string;
  key?: string;
  request?: string;
  author?: string;
  kind?: Kind;
  object?: string;
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = rangeOf(s);
  if (typeof s.id === "string" && /^[0-9a-f-]{36}$/.test(s.id)) a.id = s.id;
  if (s.status === "4xx" || s.status === "5xx" || s.status === "accepted") a.status = s.status;
  if (codes.includes(s.code as Code)) a.code = s.code as Code;
  if (kinds.includes(s.kind as Kind)) a.kind = s.kind as Kind;
  for (const name of ["path", "key", "request", "author", "object"] as const) {
    const text = textOf(s[name]);
    if (text) a[name] = text;
  }
  return a;
}

export const noFilters: Partial<Record<keyof Address, undefined>> = {
  status: undefined,
  code: undefined,
  path: undefined,
  key: undefined,
  request: undefined,
  author: undefined,
  kind: undefined,
  object: undefined,
  ...noRange,
};

export function narrowed(a: Address): boolean {
  return (
    (Object.keys(noFilters) as (keyof Address)[]).some((name) => a[name] !== undefined && name !== "status") ||
    a.status === "4xx" ||
    a.status === "5xx"
  );
}
