import type { Review } from "../reviews/types";
import type { Aloud, Turn } from "../talk/types";

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

export interface CallRow {
  call_id: string;
  direction: "outgoing" | "incoming";
  state: CallState;
  reason?: string;
  number: string;
  name?: string;
  agent_id?: string;
  line_id?: string;
  campaign_name?: string;
  created_at: string;
  scheduled_time?: string;
  due_at?: string;
  dialed_at?: string;
  ringing_at?: string;
  answered_at?: string;
  ended_at?: string;
  duration_s?: number;
  attempts: number;
  cause?: string;
  ended_by?: string;
  answered_by?: string;
  result?: Record<string, Found>;
  has_recording: boolean;
  conversation_id?: string;
}
export interface Try {
  n: number;
  state: CallState;
  reason?: string;
  cause?: string;
  detail?: string;
  counts: boolean;
  dialed_at: string;
  ringing_at?: string;
  answered_at?: string;
  ended_at?: string;
}
/** Said is a turn of a call, and where in its recording it was said. */
export interface Said extends Turn {
  offset_ms?: number;
  digits?: string;
  set?: { name: string; type: string; text: string }[];
  voice?: Aloud;
}
/** Transfer is one time that a call was put through to a number. */
export interface Transfer {
  number: string;
  state: CallState;
  cause?: string;
  dialed_at: string;
  answered_at?: string;
  ended_at?: string;
}
export interface Call extends CallRow {
  detail?: string;
  tries: Try[];
  recorded_at?: string;
  turns: Said[];
  transfers?: Transfer[];
  review?: Review;
}

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
