// How fast something goes on, and how long it will take.
import { useRef } from "react";

/** span is a length of time as people say it. */
export function span(seconds: number, language: string): string {
  const f = (n: number, unit: string) =>
    new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(n);
  if (seconds < 60) return f(Math.max(1, Math.round(seconds)), "second");
  if (seconds < 5400) return f(Math.round(seconds / 60), "minute");
  return f(Math.round(seconds / 360) / 10, "hour");
}

const kept = 10_000; // ms

/** paceOf is how many there were a second in the last ten; undefined: too little is known. */
export function paceOf(seen: { at: number; n: number }[]): number | undefined {
  const first = seen[0],
    last = seen.at(-1);
  if (!first || !last || last.at - first.at < 800 || last.n <= first.n) return undefined;
  return ((last.n - first.n) / (last.at - first.at)) * 1000;
}

/** usePace is how many there are a second of something that is counted. */
export function usePace(n: number, running: boolean): number | undefined {
  const seen = useRef<{ at: number; n: number }[]>([]);
  const last = seen.current.at(-1);
  if (!running || (last && n < last.n)) seen.current = [];
  else if (!last || last.n !== n)
    seen.current = [...seen.current.filter((x) => x.at > Date.now() - kept), { at: Date.now(), n }];
  return paceOf(seen.current);
}
