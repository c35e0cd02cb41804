import type { TemplateComponent } from "../templates/types";

/** Template is a template of any of the company's senders. */
export interface Template {
  id: string;
  name: string;
  language: string;
  status: string;
  reason?: string;
  category: string;
  sender: string;
  number: string;
  provider: string;
  components: TemplateComponent[];
  variables: string[];
  body: string;
  version: string;
}

export type Kind = "transactional" | "utility" | "marketing";
export const kinds: Kind[] = ["transactional", "utility", "marketing"];

/** kindOf is the type of notification that a template is usually for. */
export function kindOf(t: { category: string } | undefined): Kind {
  return t?.category === "MARKETING" ? "marketing" : t?.category === "UTILITY" ? "utility" : "transactional";
}

export type JobState =
  "draft" | "checking" | "checked" | "sending" | "paused" | "canceling" | "done" | "canceled" | "failed";
export type FaultReason =
  | "number_missing"
  | "number_invalid"
  | "number_amount"
  | "variable_missing"
  | "text_too_long"
  | "media_invalid"
  | "address_invalid"
  | "duplicate"
  | "suppressed"
  | "refused";
export const faultReasons: FaultReason[] = [
  "number_missing",
  "number_invalid",
  "number_amount",
  "variable_missing",
  "text_too_long",
  "media_invalid",
  "address_invalid",
  "duplicate",
  "suppressed",
  "refused",
];

/** Result is what the check found of a file's rows, and what became of them. */
export interface Result {
  rows: number;
  good: number;
  faults: Partial<Record<FaultReason, number>>;
  cleaned: number;
  accepted: number;
  canceled: number;
  left: number;
}

/** JobRow is a job that sends to the people of a file, in the list. */
export interface JobRow {
  id: string;
  state: JobState;
  reason: string;
  detail: string;
  file: string;
  bytes: number;
  rows: number;
  template: string;
  language: string;
  campaign: string;
  checked: number;
  result: Result;
  author: string;
  created_at: string;
  changed_at: string;
  begun_at: string | null;
  ended_at: string | null;
  restored_at: string | null;
}

/** Column is a column of the file; key is its name as a placeholder. */
export interface Column {
  name: string;
  key: string;
  samples: string[];
}
/** Value is where a variable's value comes from: a column, or a text that is the same for everybody. */
export interface Value {
  column?: number;
  text?: string;
}
export interface Settings {
  version: number;
  encoding: string;
  delimiter: string;
  columns: Column[];
  number: number;
  fields: Record<string, number>;
  values: Record<string, Value>;
  template: string;
  language: string;
  sender: string;
  campaign: string;
  type: Kind | "";
  event?: string;
  datetime_sending?: string;
  timezone?: string;
}
export interface Job extends JobRow {
  settings: Settings;
  quota: { limit: number; used: number; reset_time: string };
  per_second: number;
  due: string | null;
}

/** BadRow is a row that is not sent; Sample is one that is. */
export interface BadRow {
  line: number;
  reason: FaultReason;
  detail?: string;
  cells: string[];
}
export interface Sample {
  line: number;
  number: string;
  values: Record<string, string>;
}
