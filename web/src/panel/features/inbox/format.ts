/** ago is how long something is past, in a few letters; hover shows the instant. */
export function ago(at: string, language: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 60) return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(0, "second");
  if (seconds < 3600) return short(Math.floor(seconds / 60), "minute", language);
  if (seconds < 86_400) return short(Math.floor(seconds / 3600), "hour", language);
  if (seconds < 7 * 86_400) return short(Math.floor(seconds / 86_400), "day", language);
  return new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }).format(new Date(at));
}

function short(n: number, unit: "minute" | "hour" | "day", language: string): string {
  const unitDisplay = language === "en" ? "narrow" : "short"; // "4m", but never "4min"
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay }).format(n);
}

export function clock(at: string, language: string): string {
  return new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" }).format(new Date(at));
}

export function day(at: string, language: string, t: { today: string; yesterday: string }, now = new Date()): string {
  const d = new Date(at);
  const midnight = (x: Date) => new Date(x.getFullYear(), x.getMonth(), x.getDate()).getTime();
  const days = Math.round((midnight(now) - midnight(d)) / 86_400_000);
  if (days === 0) return t.today;
  if (days === 1) return t.yesterday;
  return new Intl.DateTimeFormat(language, {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: d.getFullYear() === now.getFullYear() ? undefined : "numeric",
  }).format(d);
}

export function bytes(n: number): string {
  return n < 1 << 20 ? Math.max(1, Math.round(n / 1024)) + " kB" : (n / (1 << 20)).toFixed(1) + " MB";
}

/** path is the part of a page's address that says which page it is. */
export function path(address: string): string {
  try {
    const u = new URL(address);
    return u.host + (u.pathname === "/" ? "" : u.pathname);
  } catch {
    return address;
  }
}
