import type { Point } from "../../ui/chart/bins";

export interface Usage {
  date: string;
  quota: number;
  used: number;
  reset_time: string;
  retention_days: number;
  days: { date: string; used: number }[];
  calls: { placed: number; dialed: number; answered: number };
  limits: {
    sends_per_minute: number;
    template_lists_per_minute: number;
    lists_per_minute: number;
    daily_recipients: number;
    daily_calls: number;
    daily_bytes: number;
    templates_per_day: number;
    widget_calls_per_minute: number;
    engine_turns_per_day: number;
  };
}

/** Used are the recipients of a day: full, where they used up the quota. */
export type Used = "used" | "full";

/** pointsOfDays is the use of each of the last thirty days by UTC, those without any too. They are drawn as days of the viewer. */
export function pointsOfDays(u: Usage): Point<Used>[] {
  const used = new Map(u.days.map((d) => [d.date, d.used]));
  const today = Date.parse(u.date + "T00:00:00Z");
  return Array.from({ length: 30 }, (_, i) => {
    const day = new Date(today - (29 - i) * 86_400_000);
    const [y, m, d] = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()];
    const n = used.get(day.toISOString().slice(0, 10)) ?? 0;
    const full = u.quota > 0 && n >= u.quota;
    return {
      at: new Date(y, m, d),
      until: new Date(y, m, d + 1),
      open: i === 29,
      used: full ? 0 : n,
      full: full ? n : 0,
    };
  });
}
