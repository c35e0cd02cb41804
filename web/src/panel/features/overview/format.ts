/** duration is a time as people say it, of two digits or so. */
export function duration(ms: number, language: string): string {
  const unit = (n: number, u: string) =>
    new Intl.NumberFormat(language, {
      style: "unit",
      unit: u,
      unitDisplay: "short",
      maximumFractionDigits: n < 10 && u !== "millisecond" ? 1 : 0,
    }).format(n);
  if (ms < 1000) return unit(Math.round(ms), "millisecond");
  if (ms < 90_000) return unit(ms / 1000, "second");
  if (ms < 5_400_000) return unit(ms / 60_000, "minute");
  return unit(ms / 3_600_000, "hour");
}

/** clock is a time of the day with seconds. */
export function clock(at: string, language: string): string {
  return new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(
    new Date(at),
  );
}
