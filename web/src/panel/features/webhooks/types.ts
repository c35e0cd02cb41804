// What the panel's interface says of webhooks.
import type { Schemas } from "../../api";
export type Header = Schemas["HookHeader"];
/** Webhook is an endpoint. Secrets and the values of headers are written, and shown only when a secret was made. */
export type Webhook = Omit<Schemas["HookWebhook"], "id"> & { id?: string };
export type StateName = "active" | "paused" | "failing" | "down" | "disabled";
/** Status is how delivery to an endpoint stands. */
export type Status = Schemas["WebhooksEndpointState"];
/** Attempt is a request to an endpoint, and the response. */
export type Attempt = Schemas["WebhooksAttempt"];
export type EventSent = Schemas["WebhooksEventShown"];

/** groups are the types of events by what they are about. */
export const groups = [
  {
    name: "messages",
    types: [
      "notification.accepted",
      "message.sent",
      "message.delivered",
      "message.read",
      "message.clicked",
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
