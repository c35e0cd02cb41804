// What stands at the axes of a chart.
import type { Unit } from "./bins";

/** clock is an hour in the form of the language: "8 AM", "08:00". */
function clock(at: Date, language: string): string {
  const twelve = new Intl.DateTimeFormat(language, { hour: "numeric" }).resolvedOptions().hour12;
  return new Intl.DateTimeFormat(
    language,
    twelve ? { hour: "numeric" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  ).format(at);
}

export function dayOf(at: Date, language: string): string {
  return new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }).format(at);
}

/** binLabel is a bin at the axis. */
export function binLabel(at: Date, unit: Unit, language: string): string {
  return unit === "hour" ? clock(at, language) : dayOf(at, language);
}

/** binName is a bin in full: its day and hour, its weekday, or the days of its week. */
export function binName(p: { at: Date; until: Date }, unit: Unit, language: string): string {
  const date = { weekday: "short", day: "numeric", month: "short" } as const;
  const last = new Date(p.until.getTime() - 1);
  if (unit === "hour")
    return `${new Intl.DateTimeFormat(language, date).format(p.at)}, ${clock(p.at, language)} – ${clock(p.until, language)}`;
  if (unit === "day") return new Intl.DateTimeFormat(language, date).format(p.at);
  return new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }).formatRange(p.at, last);
}

const steps: Record<Unit, number[]> = {
  hour: [1, 2, 3, 4, 6, 12, 24],
  day: [1, 2, 7, 14, 28],
  week: [1, 2, 4, 8, 13, 26],
};

export interface Label {
  text: string;
  x: number; // of its center
  width: number;
}

/** placed keeps a label within the axis. */
const placed = (text: string, center: number, width: number, all: number): Label => ({
  text,
  width,
  x: Math.max(width / 2, Math.min(all - width / 2, center)),
});

/** fits drops labels that would touch the one before. */
function fits(labels: Label[]): Label[] {
  const kept: Label[] = [];
  for (const l of labels) {
    const last = kept.at(-1);
    if (!last || l.x - l.width / 2 >= last.x + last.width / 2 + 8) kept.push(l);
  }
  return kept;
}

/** xLabels are the labels below bins, at round hours, as close as they fit. */
export function xLabels(
  bins: Date[],
  unit: Unit,
  language: string,
  width: number,
  measure: (text: string) => number,
): Label[] {
  const band = width / Math.max(1, bins.length);
  const texts = bins.map((at) => binLabel(at, unit, language));
  const widest = Math.max(0, ...texts.map(measure)) + 10;
  const step = steps[unit].find((s) => s * band >= widest) ?? Math.ceil(widest / band);
  const at = (d: Date, i: number) => (unit === "hour" ? d.getHours() % step === 0 : i % step === 0);
  return fits(
    bins.flatMap((d, i) => (at(d, i) ? [placed(texts[i]!, (i + 0.5) * band, measure(texts[i]!), width)] : [])),
  );
}

export interface DayMark {
  x: number; // of the line where the day begins
  label?: Label;
}

/** dayMarks are where days begin among hours, with their dates. */
export function dayMarks(bins: Date[], language: string, width: number, measure: (text: string) => number): DayMark[] {
  const band = width / Math.max(1, bins.length);
  const starts = bins.flatMap((d, i) => (i === 0 || d.getDate() !== bins[i - 1]!.getDate() ? [i] : []));
  return starts.map((i, k) => {
    const x = i * band;
    const room = (starts[k + 1] ?? bins.length) * band - x;
    const text = dayOf(bins[i]!, language);
    const size = measure(text);
    return size + 8 <= room ? { x, label: { text, width: size, x: x + 4 + size / 2 } } : { x };
  });
}

const minute = 60_000;
const times = [
  [1, 2, 5, 10, 20, 50, 100, 200, 500],
  [1, 2, 5, 10, 15, 30].map((s) => s * 1000),
  [1, 2, 5, 10, 15, 30].map((m) => m * minute),
  [1, 2, 3, 6, 12, 24, 48, 96, 192, 384, 768].map((h) => h * 60 * minute),
].flat();

/** ticksOf are three to five round values from zero to the highest or just beyond. */
export function ticksOf(highest: number, time = false): number[] {
  const most = Math.max(highest, time ? 1000 : 4);
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = time
    ? (times.find((s) => s * 4 >= most) ?? Math.ceil(most / 4))
    : [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s * 4 >= most && Number.isInteger(s))!;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}
