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

/** daysOf is the use of each of the last thirty days by UTC, those without any too. */
export function daysOf(u: Usage): { date: string; used: number }[] {
  const used = new Map(u.days.map((d) => [d.date, d.used]));
  const today = Date.parse(u.date + "T00:00:00Z");
  return Array.from({ length: 30 }, (_, i) => {
    const date = new Date(today - (29 - i) * 86_400_000).toISOString().slice(0, 10);
    return { date, used: used.get(date) ?? 0 };
  });
}
