// A range of days of a list, as the address holds it.

export const presets = ["today", "7d", "30d"] as const;
export type Preset = (typeof presets)[number];

/** Range is a preset, which moves with time, or days, of which the last is included. */
export interface Range {
  range?: Preset;
  from?: string;
  to?: string;
}

export const noRange: Record<keyof Range, undefined> = { range: undefined, from: undefined, to: undefined };

const day = /^\d{4}-\d\d-\d\d$/;
const days: Record<Preset, number> = { today: 1, "7d": 7, "30d": 30 };

/** rangeOf reads an address that anybody may have written. */
export function rangeOf(s: Record<string, unknown>): Range {
  if (presets.includes(s.range as Preset)) return { range: s.range as Preset };
  const r: Range = {};
  for (const name of ["from", "to"] as const)
    if (typeof s[name] === "string" && day.test(s[name]) && !Number.isNaN(Date.parse(s[name]))) r[name] = s[name];
  return r;
}

/** midnight is the beginning of a day of the viewer's, some days later. */
function midnight(date: string, more: number): Date {
  const [y, m, d] = date.split("-").map(Number);
  return new Date(y!, m! - 1, d! + more);
}

const instant = (d: Date) => d.toISOString().replace(/\.\d+Z$/, "Z");

/** spanOf are the instants of a range, for the viewer's days. */
export function spanOf(r: Range, now = new Date()): { from?: string; to?: string } {
  if (r.range) return { from: instant(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days[r.range] + 1)) };
  return { from: r.from ? instant(midnight(r.from, 0)) : undefined, to: r.to ? instant(midnight(r.to, 1)) : undefined };
}

/** dayText is a day such as "30 Nov 2026". */
export function dayText(date: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(midnight(date, 0));
}
