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
  const template = typeof s.template === "number" ? String(s.template) : s.template;
  if (typeof template === "string" && template) a.template = template.slice(0, 64);
  for (const key of ["number", "name", "campaign"] as const) {
    const text = typeof s[key] === "number" ? String(s[key]) : s[key];
    if (a.tab === "call" && typeof text === "string" && text.trim()) a[key] = text.trim().slice(0, 255);
  }
  return a;
}

/** reasonOf is which of the rows that are not sent a job's address shows; none: all of them. */
export function reasonOf(s: Record<string, unknown>): { reason?: FaultReason } {
  return faultReasons.includes(s.reason as FaultReason) ? { reason: s.reason as FaultReason } : {};
}
