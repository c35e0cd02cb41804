import type { TemplateComponent } from "../templates/types";

export type NotificationState = "scheduled" | "in_progress" | "completed" | "canceled";
export const notificationStates: NotificationState[] = ["scheduled", "in_progress", "completed", "canceled"];
export type Kind = "transactional" | "utility" | "marketing";
export const kinds: Kind[] = ["transactional", "utility", "marketing"];
export type Counts = Record<string, number>;

/** Sent is a notification in the list; state is its own, counts are its recipients' by their states. */
export interface Sent {
  notification_id: string;
  channel: "messaging" | "voice";
  state: NotificationState;
  name_template?: string;
  language_template?: string;
  agent_id?: string;
  recipient_id: string;
  sender?: { id: string; number: string };
  notification_type: Kind;
  campaign_name: string;
  name_event?: string;
  created_at: string;
  scheduled_time?: string;
  counts: Counts;
  total: number;
  number: string;
  reason?: string;
}

export type MessageState =
  "scheduled" | "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "canceled" | "skipped";
export const messageStates: MessageState[] = [
  "scheduled",
  "queued",
  "sending",
  "sent",
  "delivered",
  "read",
  "failed",
  "canceled",
  "skipped",
];

/** Recipient is one recipient of a notification; times has when it entered its states. */
export interface Recipient {
  message_id: string;
  n: number;
  number: string;
  name?: string;
  state: MessageState | string;
  reason?: string;
  detail?: string;
  provider_id?: string;
  attempts: number;
  times: Record<string, string>;
  due_at?: string;
  held?: boolean;
  unknown?: boolean;
}

export interface Happened {
  at: string;
  event: string;
  text: string;
}
export interface SentRun {
  id: string;
  flow: string;
  name: string;
  number: string;
  state: string;
  started_at: string;
}

/** SentPage is a notification with all that is known about it. */
export interface SentPage extends Sent {
  due_at: string;
  done_at?: string;
  template_id?: string;
  recipients: Recipient[];
  timeline: Happened[];
  resend_of?: string;
  resent_as?: string[];
  kept: boolean;
  runs: SentRun[];
}

/** Filled is the template as one recipient gets it. */
export interface Filled {
  components: TemplateComponent[];
  values: Record<string, string>;
  changed: boolean;
}

/** Resendable is a failed recipient; not says why nothing can be sent again, caution what speaks against it. */
export interface Resendable {
  n: number;
  number: string;
  name?: string;
  reason: string;
  detail?: string;
  not?: string;
  caution?: string;
}

/** Hit is what an id belongs to. */
export interface Hit {
  kind: "notification" | "message" | "call" | "number";
  id?: string;
  n: number;
  number?: string;
}

/** open reports whether something is still to come from the queue: such rows are read again, since not every step is an event. */
export function open(n: Sent): boolean {
  return n.state === "in_progress" || n.state === "scheduled";
}

/** of is how many recipients are in any of the states. */
export function of(n: { counts: Counts }, ...states: string[]): number {
  return states.reduce((sum, s) => sum + (n.counts[s] ?? 0), 0);
}
