// The outcomes of calls in charts: each state is in one of them.
export const outcomes = [
  "completed",
  "in_progress",
  "queued",
  "voicemail",
  "no_answer",
  "busy",
  "left_out",
  "failed",
] as const;
export type CallOutcome = (typeof outcomes)[number];

const states: Record<CallOutcome, string[]> = {
  completed: ["completed"],
  in_progress: ["dialing", "ringing", "in_progress"],
  queued: ["queued", "scheduled"],
  voicemail: ["voicemail"],
  no_answer: ["no_answer"],
  busy: ["busy", "rejected"],
  left_out: ["canceled", "skipped"],
  failed: ["failed"],
};

/** statesOf adds up calls by outcome. */
export function statesOf(counts: Record<string, number>): Record<CallOutcome, number> {
  const sum = (of: CallOutcome) => states[of].reduce((n, s) => n + (counts[s] ?? 0), 0);
  return Object.fromEntries(outcomes.map((of) => [of, sum(of)])) as Record<CallOutcome, number>;
}
