// What the panel's interface says of messaging senders.
import type { Breaker } from "../lines/types";

export type FindingState = "ok" | "warn" | "bad" | "unknown";
/** Finding is one item of a check, with the code of what was found. */
export interface Finding {
  item: string;
  state: FindingState;
  code: string;
  detail?: string;
  values?: Record<string, string>;
}
/** Report is what a sender's channel says of it. */
export interface Report {
  handshake_at: string | null;
  callback_at: string | null;
  notice: string;
  notice_at: string | null;
  quality: string;
  quality_at: string | null;
  messages: string;
  messages_at: string | null;
  checked_at: string | null;
  name: string;
  worst: "" | FindingState;
  findings?: Finding[];
}
/** SenderRow is a messaging sender in the list. */
export interface SenderRow {
  id: string;
  number: string;
  provider: string;
  default: boolean;
  breaker: Breaker;
  report: Report;
}
export interface CloudSettings {
  base_url?: string;
  version?: string;
  phone_number_id?: string;
  waba_id?: string;
  access_token?: string;
  app_secret?: string;
  verify_token?: string;
  agent?: string;
}
export type UnknownPolicy = Partial<Record<"transactional" | "utility" | "marketing", "retry" | "fail">> & {
  after?: string;
};
/** MessagingSender is a sender with its settings. Secrets are written and never read; secrets names those that are set. */
export interface MessagingSender {
  id: string;
  number: string;
  channel: "messaging";
  provider: string;
  default: boolean;
  per_second: number;
  per_recipient_interval: string;
  media_check: "full" | "syntax";
  unknown_outcome: UnknownPolicy;
  settings: CloudSettings;
  secrets: string[];
  callback?: { url: string; public: boolean };
  breaker: Breaker;
  max_concurrent?: number;
}
export type NewSender = Partial<Pick<MessagingSender, "id" | "default">> & {
  number: string;
  channel: "messaging";
  provider: string;
  settings: CloudSettings;
};
/** SenderState is how a sender is at the moment. */
export interface SenderState {
  report: Report;
  breaker: Breaker;
  waiting: { messages: number; more: boolean; due: number; late_ms: number };
  hour: { accepted: number; sent: number; failed: number; delivered: number; lateness?: { p95_ms: number } };
  hour_from: string;
  templates: number;
  approved_templates: number;
}
