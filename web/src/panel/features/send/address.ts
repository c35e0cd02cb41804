import { faultReasons, type FaultReason } from "./types";
import { textOf } from "../../next";

/** Address is what the address of the page says beside the company: what is sent to one person, a call, or the files. */
export interface Address {
  tab?: "files" | "call";
  template?: string;
  /** number, name and campaign are what the form of a call begins with. */
  number?: string;
  name?: string;
  campaign?: string;
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (s.tab === "files" || s.tab === "call") a.tab = s.tab;
  const template = textOf(s.template, 64);
  if (template) a.template = template;
  for (const key of ["number", "name", "campaign"] as const) {
    const text = textOf(s[key], 255);
    if (a.tab === "call" && text) a[key] = text;
  }
  return a;
}

/** reasonOf is which of the rows that are not sent a job's address shows; none: all of them. */
export function reasonOf(s: Record<string, unknown>): { reason?: FaultReason } {
  return faultReasons.includes(s.reason as FaultReason) ? { reason: s.reason as FaultReason } : {};
}
