import type { Schemas } from "../../api";

export type NotificationState = "scheduled" | "in_progress" | "completed" | "canceled";
/** StateFilter is what the list is narrowed to: a state, or that a recipient failed. */
export type StateFilter = NotificationState | "failed";
export const stateFilters: StateFilter[] = ["failed", "in_progress", "scheduled", "completed", "canceled"];
export type Kind = "transactional" | "utility" | "marketing";
export const kinds: Kind[] = ["transactional", "utility", "marketing"];
export type Counts = Record<string, number>;

/** Sent is a notification in the list; state is its own, counts are its recipients' by their states. */
export type Sent = Schemas["NotifyRow"];

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
export type Recipient = Schemas["NotifyRecipient"];

export type Happened = Schemas["NotifyEvent"];
export type SentRun = Schemas["SendingSentRun"];

/** SentPage is a notification with all that is known about it. */
export type SentPage = Schemas["SendingSentPage"];

/** Filled is the template as one recipient gets it. */
export type Filled = Schemas["NotifyFilled"];

/** Resendable is a failed recipient; not says why nothing can be sent again, caution what speaks against it. */
export type Resendable = Schemas["NotifyResendable"];

/** Hit is what an id belongs to. */
export type Hit = Schemas["NotifyHit"];

/** open reports whether something is still to come from the queue: such rows are read again, since not every step is an event. */
export function open(n: Sent): boolean {
  return n.state === "in_progress" || n.state === "scheduled";
}

/** of is how many recipients are in any of the states. */
export function of(n: { counts: Counts }, ...states: string[]): number {
  return states.reduce((sum, s) => sum + (n.counts[s] ?? 0), 0);
}
