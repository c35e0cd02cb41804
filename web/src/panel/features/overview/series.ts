import type { Span } from "./address";
import type { Counted } from "./types";

/** Points are the values of lines at an instant. */
export type Points<L extends string> = { at: Date } & Record<L, number>;

export const lines = ["accepted", "delivered", "read", "failed"] as const;
export type Line = (typeof lines)[number];
export type Point = Points<Line>;

export const seriesOf = (hours: Counted[], span: Span): Point[] => seriesBy(hours, span, lines);

/** seriesBy adds up hours by the hours or days of the viewer, all of the range with those in which there was nothing. A day begins with the first hour that begins in it. */
export function seriesBy<L extends string>(
  hours: ({ hour?: string } & Record<L, number>)[],
  span: Span,
  lines: readonly L[],
): Points<L>[] {
  const points: Points<L>[] = [];
  const nothing = Object.fromEntries(lines.map((line) => [line, 0])) as Record<L, number>;
  for (let at = span.from; at < span.to; at = next(at, span.unit)) points.push({ at, ...nothing });
  let i = 0;
  for (const h of hours) {
    const at = new Date(h.hour!);
    while (i + 1 < points.length && points[i + 1]!.at <= at) i++;
    const p = points[i];
    if (!p || (i === 0 && at.getTime() < p.at.getTime() - 3_600_000)) continue;
    for (const line of lines) (p as Record<L, number>)[line] += h[line];
  }
  return points;
}

function next(at: Date, unit: "hour" | "day"): Date {
  return unit === "hour"
    ? new Date(at.getTime() + 3_600_000)
    : new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1);
}
