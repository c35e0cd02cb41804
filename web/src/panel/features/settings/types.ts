// The company's own settings, as the panel's interface has them.
import type { Schemas } from "../../api";

export type Hours = Schemas["CarillonCallingHours"];
export type Redial = Schemas["SystemRedialShown"];
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
export type Limits = Schemas["CarillonLimits"];
export type CompanySettings = Schemas["SystemCompanyShown"];
