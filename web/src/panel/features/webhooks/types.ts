// What the panel's interface says of webhooks.
export interface Header {
  name: string;
  value?: string;
}
/** Webhook is an endpoint. Secrets and the values of headers are written, and shown only when a secret was made. */
export interface Webhook {
  id?: string;
  url: string;
  events: string[];
  campaigns?: string[];
  senders?: string[];
  ordered?: boolean;
  paused?: boolean;
  headers?: Header[];
  secret?: string;
  previous_secret_until?: string;
  warning?: string;
}
export type StateName = "active" | "paused" | "failing" | "down" | "disabled";
/** Status is how delivery to an endpoint stands. */
export interface Status {
  state: StateName;
  reason?: "gone" | "failing";
  failures: number;
  failing_since: string | null;
  next_attempt_at: string | null;
  disabled_at: string | null;
  succeeded_at: string | null;
  waiting: number;
  failed: number;
  behind: number;
}
/** Attempt is a request to an endpoint, and the response. */
export interface Attempt {
  id: string;
  webhook_id: string;
  event_id: string;
  type: string;
  subject: string;
  attempt: number;
  at: string;
  duration_ms: number;
  succeeded: boolean;
  status?: number;
  error?: string;
  request: string;
  response: string;
}
export interface EventSent {
  id: string;
  type: string;
  timestamp: string;
  sequence: number;
  data: Record<string, unknown>;
  deliveries: Attempt[];
}

/** groups are the types of events by what they are about. */
export const groups = [
  {
    name: "messages",
    types: [
      "notification.accepted",
      "message.sent",
      "message.delivered",
      "message.read",
      "message.failed",
      "message.canceled",
      "message.skipped",
    ],
  },
  {
    name: "people",
    types: [
      "message.received",
      "conversation.started",
      "conversation.handoff",
      "conversation.resolved",
      "conversation.reviewed",
      "feedback.received",
    ],
  },
  { name: "calls", types: ["call.started", "call.completed", "call.failed"] },
  { name: "templates", types: ["template.approved", "template.rejected", "template.paused"] },
] as const;
export const types: string[] = groups.flatMap((g) => [...g.types]);

/** hostOf is the host of an address, which names an endpoint. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** Address is what the address of an endpoint's page holds. */
export interface Address {
  failed?: true;
  delivery?: string;
}
export const addressOf = (s: Record<string, unknown>): Address => ({
  ...(s.failed === true ? { failed: true } : {}),
  ...(typeof s.delivery === "string" && /^[0-9a-f-]{36}$/.test(s.delivery) ? { delivery: s.delivery } : {}),
});
