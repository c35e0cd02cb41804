// The company's own settings, as the panel's interface has them.

export interface Hours {
  timezone: string;
  from: string;
  to: string;
  days: string[];
}
export interface Redial {
  outcomes: string[];
  attempts: number;
  after: string;
}
export const limitNames = [
  "sends_per_minute",
  "daily_recipients",
  "daily_calls",
  "daily_bytes",
  "templates_per_day",
  "template_lists_per_minute",
  "lists_per_minute",
  "widget_calls_per_minute",
  "engine_turns_per_day",
] as const;
export type Limits = Record<(typeof limitNames)[number], number>;
export interface CompanySettings {
  id: string;
  name: string;
  strict_recipient_id: boolean;
  calling_hours: Hours | null;
  redial: Redial;
  retention_days: number;
  limits: Limits;
  version: string;
  limits_writable: boolean;
}
