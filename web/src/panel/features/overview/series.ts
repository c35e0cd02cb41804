import type { Span } from "./address";
import type { Counted } from "./types";

export interface Point {
  at: Date;
  accepted: number;
  delivered: number;
  read: number;
  failed: number;
}

export const lines = ["accepted", "delivered", "read", "failed"] as const;
export type Line = (typeof lines)[number];

/** seriesOf adds up hours by the hours or days of the viewer, all of the range with those in which there was nothing. A day begins with the first hour that begins in it. */
export function seriesOf(hours: Counted[], span: Span): Point[] {
  const points: Point[] = [];
  for (let at = span.from; at < span.to; at = next(at, span.unit))
    points.push({ at, accepted: 0, delivered: 0, read: 0, failed: 0 });
  let i = 0;
  for (const h of hours) {
    const at = new Date(h.hour!);
    while (i + 1 < points.length && points[i + 1]!.at <= at) i++;
    const p = points[i];
    if (!p || (i === 0 && at.getTime() < p.at.getTime() - 3_600_000)) continue;
    for (const line of lines) p[line] += h[line];
  }
  return points;
}

function next(at: Date, unit: "hour" | "day"): Date {
  return unit === "hour"
    ? new Date(at.getTime() + 3_600_000)
    : new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1);
}
