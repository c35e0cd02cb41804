/** Review is the judgment of a conversation after its end. */
export interface Review {
  summary: string;
  goal?: { goal: string; reached: "yes" | "no" | "unknown"; reason: string };
  result?: Record<string, string | number | boolean>;
  topics: string[];
  by: string;
  failure?: string;
  turn: number;
  ended_at: string; // time of the last message
  at: string;
}
