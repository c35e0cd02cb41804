import type { Figures } from "../../ui/rates";

export interface Counts extends Figures {
  lateness?: { messages: number; average_ms: number; p50_ms: number; p95_ms: number; p99_ms: number };
}

export interface Counted extends Counts {
  hour?: string;
  campaign?: string;
  last_at?: string;
  type?: Kind;
  template?: string;
  language?: string;
  sender?: string;
  number?: string;
  channel?: Channel;
}

export type Kind = "transactional" | "utility" | "marketing";
export type Channel = "messaging" | "voice";
export const kinds: Kind[] = ["transactional", "utility", "marketing"];
export const channels: Channel[] = ["messaging", "voice"];

export interface Overview {
  from: string;
  to: string;
  as_of: string;
  total: Counts;
  hours: Counted[];
  types: Counted[];
  templates: Counted[];
  senders: Counted[];
  campaigns: Counted[];
}

export interface Concern {
  kind:
    | "maintenance"
    | "restored"
    | "sender_failing"
    | "quota"
    | "conversations_waiting"
    | "messages_failing"
    | "calls_failing"
    | "template"
    | "webhook_failing"
    | "webhook_disabled"
    | "search_behind"
    | "counts_behind";
  sender?: string;
  number?: string;
  channel?: Channel;
  class?: string;
  detail?: string;
  since?: string;
  until?: string;
  template?: string;
  id?: string;
  host?: string;
  language?: string;
  status?: string;
  used?: number;
  of?: number;
  count?: number;
  behind_s?: number;
  reset_time?: string;
}

export type Step = "sender" | "template" | "key" | "delivered" | "widget" | "teammate";
