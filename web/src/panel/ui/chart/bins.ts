// The bins of a chart: the hours, days or weeks of the viewer's clock in a range.

export type Unit = "hour" | "day" | "week";

export interface Span {
  from: Date;
  to: Date;
  unit: Unit;
}

const hour = 3_600_000;

/** unitOf is the unit in which a range has a readable number of bins. */
export function unitOf(from: Date, to: Date): Unit {
  const hours = (to.getTime() - from.getTime()) / hour;
  return hours <= 49 ? "hour" : hours <= 63 * 24 ? "day" : "week";
}

/** nextOf is the beginning of the next bin. Weeks begin on Mondays; an hour that the clock repeats is two. */
export function nextOf(at: Date, unit: Unit): Date {
  if (unit === "hour") return new Date(at.getTime() + hour);
  const days = unit === "day" ? 1 : 7 - ((at.getDay() + 6) % 7);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + days);
}

/** binsOf are the beginnings of all bins of a range, the empty ones too. */
export function binsOf(span: Span): Date[] {
  const all: Date[] = [];
  for (let at = span.from; at < span.to; at = nextOf(at, span.unit)) all.push(at);
  return all;
}

/** Point is a bin with the values of its series. until is its end; open, that it has not passed. */
export type Point<K extends string> = { at: Date; until: Date; open: boolean } & Record<K, number>;

/**
 * pointsOf adds up hours by the bins of a range. A bin has the hours that begin in it. Where the viewer's clock is not
 * whole hours from UTC, the range begins within an hour: that hour is in the first bin.
 */
export function pointsOf<K extends string>(
  hours: ({ hour?: string } & Record<K, number>)[],
  span: Span,
  keys: readonly K[],
  now = new Date(),
): Point<K>[] {
  const points = binsOf(span).map((at) => {
    const end = nextOf(at, span.unit);
    const until = end < span.to ? end : span.to;
    const nothing = Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
    return { at, until, open: at <= now && now < until, ...nothing } as Point<K>;
  });
  for (const h of hours) {
    const at = new Date(h.hour!);
    if (at >= span.to || at.getTime() <= span.from.getTime() - hour) continue;
    let i = points.length - 1;
    while (i > 0 && points[i]!.at > at) i--;
    for (const key of keys) (points[i] as Record<K, number>)[key] += h[key];
  }
  return points;
}
