import type { Counts, NotificationState } from "./types";

/** What an outcome is made of: a notification, or the recipients of a campaign. */
export interface Sendings {
  state?: NotificationState;
  counts: Counts;
  scheduled_time?: string;
}

const waiting = ["scheduled", "queued", "sending", "dialing", "ringing", "in_progress"];
const failed = ["failed", "busy", "no_answer", "rejected", "voicemail"];
const reached = ["delivered", "read", "completed"];

/**
 * outcomeOf is what became of recipients, as a state that State shows. One recipient has the outcome of its own. Of several, it is
 * the least that holds for all who were sent to: "delivered" once everybody's is.
 */
export function outcomeOf(x: Sendings): string {
  const has = (...states: string[]) => states.reduce((sum, s) => sum + (x.counts[s] ?? 0), 0);
  const states = Object.keys(x.counts).filter((s) => has(s) > 0);
  if (x.state === "scheduled" || x.state === "canceled") return x.state;
  if (!x.state && x.scheduled_time && states.length === 1 && has(...waiting) > 0) return "scheduled"; // a campaign
  if (states.length === 1 && has(states[0]!) === 1) return states[0]!;
  if (has(...waiting) > 0) return x.scheduled_time ? "scheduled" : "sending";
  if (has(...failed) > 0) return has(...reached, "sent") > 0 ? "partly_failed" : "failed";
  if (has("sent") > 0) return "sent";
  if (has("delivered", "completed") > 0) return "delivered";
  if (has("read") > 0) return "read";
  if (has("skipped") > 0) return "skipped";
  return has("canceled") > 0 ? "canceled" : (x.state ?? "sent");
}
