// What happened, as the routes under /activity respond it (docs/reference/activity.md).

export interface Key {
  id: string;
  label: string;
}

export interface ApiCall {
  id: string;
  at: string;
  status: number;
  code: string;
  message: string;
  method: string;
  path: string;
  key: Key;
  request_id: string;
  repeats: number;
  took_ms: number;
}

export interface ApiCallPage extends ApiCall {
  query: string;
  address: string;
  agent: string;
  content_type: string;
  idempotency_key: string;
  body: string;
  body_cut: boolean;
  body_read: boolean;
  response: string;
  response_cut: boolean;
}

export interface Accepted {
  at: string;
  request_id: string;
  notification_id: string;
  voice: boolean;
  key: Key;
}

export interface Author {
  key: string;
  name: string;
  origin: string;
  address?: string;
}

export interface Change {
  id: string;
  at: string;
  by: Author;
  action: string;
  object: { kind: string; id: string; name: string };
}

export interface Field {
  path: string;
  before?: unknown;
  after?: unknown;
  secret?: boolean;
  cut?: boolean;
  more?: number;
}

export interface ChangePage extends Change {
  fields: Field[];
}

export const kinds = [
  "company",
  "key",
  "user",
  "invitation",
  "sender",
  "template",
  "agent",
  "knowledge",
  "site",
  "flow",
  "widget",
  "secret",
  "webhook",
  "canned_reply",
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
