// The state of the inbox as its pages show it.
import type { ReactNode } from "react";
import type { send } from "../../api";
import type { Marks, View } from "./model";
import type { CannedReply, Counts, Delivery, Listed, Teammate, Thread } from "./types";

/** The panel's part: requests, which reject with a Refusal, and the stream of the company's inbox. */
export interface Server {
  request: typeof send;
  follow(follower: { event(name: string, data: unknown): void; connected(yes: boolean): void }): () => void;
}
export interface Refusal {
  status?: number;
  details?: {
    reason?: string;
    rule?: string;
    values?: Record<string, string>;
    assignee?: string;
    assignee_name?: string;
    window?: string;
  };
}

/** An answer or a note that the server has not confirmed. */
export interface Unsent {
  client_id: string;
  text: string;
  note: boolean;
  at: string;
  problem?: string;
}
export interface Loaded extends Thread {
  unsent: Unsent[];
  sent: Record<number, Delivery>;
}
export type Phase = "loading" | "ready" | "failed";

export interface Snapshot {
  view: View;
  search: string;
  list: Listed[];
  cursor: string | null;
  listPhase: Phase;
  counts?: Counts;
  id?: string;
  thread?: Loaded;
  threadPhase: Phase;
  marks: Marks;
  connected: boolean;
  teammates: Teammate[];
  canned: CannedReply[];
}

/** The result of an answer: sent, or the reason why the server asks for another try. */
export type Sent =
  | { result: "sent" }
  | { result: "answered" }
  | { result: "taken"; by: string }
  | { result: "closed" }
  | { result: "failed"; why: ReactNode };
