// When calls may be placed, as the picture of a week.
import type { Hours } from "./types";

export const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

const minutes = (clock: string): number => {
  const [h, m] = clock.split(":").map(Number);
  return (h ?? 0) * 60 + (m ?? 0);
};

/** Span is a part of a day, in minutes from its beginning. */
export interface Span {
  from: number;
  to: number;
}

/** spans are the open hours of each day. Hours that end at or before their beginning reach into the next day. */
export function spans(h: Hours): Span[][] {
  const week: Span[][] = days.map(() => []);
  const from = minutes(h.from),
    to = minutes(h.to);
  days.forEach((d, i) => {
    if (!h.days.includes(d)) return;
    if (to > from) {
      week[i]!.push({ from, to });
      return;
    }
    week[i]!.push({ from, to: 1440 });
    if (to > 0) week[(i + 1) % 7]!.push({ from: 0, to });
  });
  return week.map(joined);
}

/** joined are spans in order, those that touch as one. */
function joined(all: Span[]): Span[] {
  const out: Span[] = [];
  for (const s of [...all].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && s.from <= last.to) last.to = Math.max(last.to, s.to);
    else out.push({ ...s });
  }
  return out;
}

/** clockOf is a time of day such as 21:00. */
export const clockOf = (m: number): string =>
  `${String(Math.floor(m / 60)).padStart(2, "0")}:${String(m % 60).padStart(2, "0")}`;
