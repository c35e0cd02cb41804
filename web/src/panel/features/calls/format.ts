import { number } from "../../format";
import type { CallRow, Found } from "./types";

/** clock is a length in minutes and seconds. */
export function clock(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  const two = (n: number) => String(n).padStart(2, "0");
  return s >= 3600
    ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`
    : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

/** talked is how long a call was talked in, until now where it is under way; undefined where nobody has answered. */
export function talked(c: CallRow, now: number): number | undefined {
  if (!c.answered_at) return undefined;
  return c.duration_s ?? Math.max(0, (now - Date.parse(c.answered_at)) / 1000);
}

/** time is an instant of today, with the date where it is of another day; seconds where they matter. */
export function time(at: string, language: string, seconds = false, now = new Date()): string {
  const d = new Date(at);
  const same = d.toDateString() === now.toDateString();
  return new Intl.DateTimeFormat(language, {
    ...(same
      ? {}
      : { day: "numeric", month: "short", year: d.getFullYear() === now.getFullYear() ? undefined : "numeric" }),
    hour: "numeric",
    minute: "2-digit",
    second: seconds ? "2-digit" : undefined,
  }).format(d);
}

/** found is a value that an agent found out, as people read it. */
export function found(v: Found, language: string, t: { yes: string; no: string }): string {
  return typeof v === "boolean" ? (v ? t.yes : t.no) : typeof v === "number" ? number(v, language) : v;
}
