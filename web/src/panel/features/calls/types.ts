import type { Schemas } from "../../api";

export type CallState =
  | "scheduled"
  | "queued"
  | "dialing"
  | "ringing"
  | "in_progress"
  | "completed"
  | "busy"
  | "no_answer"
  | "rejected"
  | "voicemail"
  | "failed"
  | "canceled"
  | "skipped";
export const callStates: CallState[] = [
  "scheduled",
  "queued",
  "dialing",
  "ringing",
  "in_progress",
  "completed",
  "busy",
  "no_answer",
  "rejected",
  "voicemail",
  "failed",
  "canceled",
  "skipped",
];

export type Found = string | number | boolean;

export type CallRow = Schemas["CallsCallRow"];
export type Try = Schemas["NotifyTryView"];
/** Said is a turn of a call, and where in its recording it was said. */
export type Said = Schemas["NotifySpokenRow"];
/** Transfer is one time that a call was put through to a number. */
export type Transfer = Schemas["NotifyTransferView"];
export type Call = Schemas["CallsCallPage"];

/** incomingStates are those that a call to a line may have. */
export const incomingStates: CallState[] = ["ringing", "in_progress", "completed", "canceled", "failed"];

/** underWay reports whether a call takes a line. */
export function underWay(s: CallState): boolean {
  return s === "dialing" || s === "ringing" || s === "in_progress";
}
/** waits reports whether a call is still to be dialed. */
export function waits(s: CallState): boolean {
  return s === "scheduled" || s === "queued";
}
