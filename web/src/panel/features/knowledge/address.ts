import { textOf } from "../../next";

/** Address is what the address of the page says beside the company. */
export interface Address {
  tab?: "search" | "questions" | "answers";
  view?: "reviews";
  range?: string;
  from?: string;
  to?: string;
  agent?: string;
  q?: string;
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (s.tab === "search" || s.tab === "questions" || s.tab === "answers") a.tab = s.tab;
  if (s.view === "reviews") a.view = s.view;
  for (const name of ["range", "from", "to", "agent", "q"] as const) {
    const text = textOf(s[name], 1000);
    if (text) a[name] = text;
  }
  return a;
}
