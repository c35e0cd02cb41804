// What happened, as the routes under /activity respond it (docs/reference/activity.md).
import type { Schemas } from "../../api";

export type Key = Schemas["SystemUsedKey"];

export type ApiCall = Schemas["SystemApiCallRow"];

export type ApiCallPage = Schemas["SystemApiCallPage"];

export type Accepted = Schemas["SystemAcceptedRow"];

export type Author = Schemas["SystemChangeAuthor"];

export type Change = Schemas["SystemAuditRow"];

export type Field = Schemas["AuditField"];

export type ChangePage = Schemas["SystemAuditPage"];

export const kinds = [
  "company",
  "key",
  "user",
  "invitation",
  "sender",
  "template",
  "agent",
  "tool",
  "suite",
  "knowledge",
  "site",
  "flow",
  "widget",
  "secret",
  "webhook",
  "canned_reply",
  "prices",
  "person",
  "suppression",
  "notification",
  "call",
  "job",
  "maintenance",
  "restored",
] as const;
export type Kind = (typeof kinds)[number];

export const codes = [
  "validation_failed",
  "unauthorized",
  "forbidden",
  "not_found",
  "template_not_found",
  "agent_not_found",
  "method_not_allowed",
  "conflict",
  "idempotency_in_progress",
  "payload_too_large",
  "template_not_approved",
  "variable_mismatch",
  "idempotency_key_reused",
  "limit_exceeded",
  "rate_limit_exceeded",
  "quota_exceeded",
  "internal_error",
  "service_unavailable",
] as const;
export type Code = (typeof codes)[number];
