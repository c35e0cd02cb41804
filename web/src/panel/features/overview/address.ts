import { unitOf, type Span } from "../../ui/chart/bins";
import { channels, kinds, type Channel, type Kind } from "./types";
import { textOf } from "../../next";

export type Range = "24h" | "7d" | "30d" | "own";
export const ranges: Range[] = ["24h", "7d", "30d", "own"];

/** Address is what the address of the page has: the range, its days where it is one's own, and the filters. */
export interface Address {
  range?: Range;
  from?: string;
  to?: string;
  campaign?: string;
  type?: Kind;
  template?: string;
  language?: string;
  sender?: string;
  channel?: Channel;
}

const day = /^\d{4}-\d\d-\d\d$/;

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (ranges.includes(s.range as Range) && s.range !== "24h") a.range = s.range as Range;
  if (a.range === "own")
    for (const name of ["from", "to"] as const)
      if (typeof s[name] === "string" && day.test(s[name]) && !Number.isNaN(Date.parse(s[name]))) a[name] = s[name];
  for (const name of ["campaign", "template", "language", "sender"] as const) {
    const text = textOf(s[name]);
    if (text) a[name] = text;
  }
  if (kinds.includes(s.type as Kind)) a.type = s.type as Kind;
  if (channels.includes(s.channel as Channel)) a.channel = s.channel as Channel;
  return a;
}

export function narrowed(a: Address): boolean {
  return !!(a.campaign || a.type || a.template || a.language || a.sender || a.channel);
}

export const nothing = {
  campaign: undefined,
  type: undefined,
  template: undefined,
  language: undefined,
  sender: undefined,
  channel: undefined,
};

/** dateOf is the viewer's day of an instant, such as 2030-01-31. */
export function dateOf(at: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function midnight(date: string, more: number): Date {
  const [y, m, d] = date.split("-").map(Number);
  return new Date(y!, m! - 1, d! + more);
}

const hour = 3_600_000;
const most = 400; // days

/** spanOf is the range in instants: the last 24 hours by whole hours, else days of the viewer, the last one included. */
export function spanOf(a: Address, now: Date): Span {
  const end = new Date(Math.floor(now.getTime() / hour) * hour + hour);
  if (!a.range) return { from: new Date(end.getTime() - 24 * hour), to: end, unit: "hour" };
  const today = dateOf(now);
  if (a.range !== "own")
    return { from: midnight(today, a.range === "7d" ? -6 : -29), to: midnight(today, 1), unit: "day" };
  const to = a.to && a.to <= today ? a.to : today;
  let from = a.from && a.from <= to ? a.from : to;
  const first = dateOf(midnight(to, 1 - most));
  if (from < first) from = first;
  const span = { from: midnight(from, 0), to: midnight(to, 1) };
  return { ...span, unit: unitOf(span.from, span.to) };
}

/** queryOf is the query of the route. */
export function queryOf(a: Address, span: Span): Record<string, string | undefined> {
  const text = (at: Date) => at.toISOString().replace(/\.\d+Z$/, "Z");
  return {
    from: text(span.from),
    to: text(span.to),
    campaign: a.campaign,
    type: a.type,
    template: a.template,
    language: a.language,
    sender: a.sender,
    channel: a.channel,
  };
}

/** listOf is the address of the list of notifications behind figures: the same days and filters, and what narrows them further. */
export function listOf(
  a: Address,
  span: Span,
  more: { campaign?: string; type?: Kind; sender?: string },
): Record<string, string | undefined> {
  return {
    from: dateOf(span.from),
    to: dateOf(new Date(span.to.getTime() - 1)),
    campaign: a.campaign,
    type: a.type,
    sender: a.sender,
    channel: a.channel,
    ...more,
  };
}
