// Conversations, as /panel/v1 has them (docs/reference/conversation.md).
import type { ChatFile } from "../../ui/MediaFile";
import type { Outcome, Passage, ToolUse } from "../agents/types";
import type { Review } from "../reviews/types";
import type { Role } from "../session/types";
import type { TemplateComponent } from "../templates/types";

export type State = "bot" | "queued" | "active" | "wrap_up" | "resolved" | "missed" | "abandoned";

export type Author = "visitor" | "agent" | "teammate" | "system";

export interface Conversation {
  id: string;
  channel: string;
  widget_id?: string;
  agent_id?: string;
  contact_id: string;
  state: State;
  state_at: string;
  assignee?: string;
  language?: string;
  page?: string;
  tags: string[];
  last_seq: number;
  last_at: string;
  last_author?: Author;
  last_text: string;
  /** The contact's newest message that is neither small talk nor a wish for a person. */
  question?: string;
  visitor_seq: number;
  company_seq: number;
  seen_seq: number;
  unread: boolean;
  rating?: number;
  comment?: string;
  opened_at: string;
  resolved_at?: string;
}

export interface Listed extends Conversation {
  name?: string;
  email?: string;
  number?: string;
  username?: string;
  group?: boolean;
}

export interface Counts {
  mine: number;
  unassigned: number;
  automated: number;
  all: number;
}

export interface Turn {
  seq: number;
  author: Author;
  kind: "text" | "choices" | "choice" | "file" | "event";
  text: string;
  at: string;
  client_id?: string;
  note?: boolean;
  account_id?: string;
  name?: string;
  choices?: string[];
  sources?: { title: string; url?: string }[];
  /** Of a response to a question: its outcome, what it is based on, and what the visitor thinks of it. */
  outcome?: Outcome;
  passages?: Passage[];
  score?: "like" | "dislike";
  file?: ChatFile;
  event?: string;
  /** tools are the calls of the event tool_called. */
  tools?: ToolUse[];
  rating?: number;
  voice?: Aloud;
  notification?: string;
  run?: string;
  /** about is the beginning of the message that this one answers or reacts to, of its turn; why is the reason why a file is missing. */
  about?: string;
  of?: number;
  why?: string;
  form?: Answer[];
  order?: Order;
  cards?: Card[];
  product?: { catalog_id?: string; product_id: string };
  referral?: Referral;
  group?: string;
}

/** Answer is one field of a form. */
export interface Answer {
  name: string;
  question: string;
  answer: string;
}

/** Order is a contact's order from a catalog, with numbers as the channel has them. */
export interface Order {
  catalog_id?: string;
  text?: string;
  items: { product_id: string; quantity: string; price?: string; currency?: string }[];
}

export interface Card {
  name?: string;
  company?: string;
  title?: string;
  birthday?: string;
  numbers?: string[];
  emails?: string[];
  urls?: string[];
  addresses?: string[];
}

/** Referral is the ad or post that led to a message. */
export interface Referral {
  source_type?: string;
  source_id?: string;
  source_url?: string;
  headline?: string;
  body?: string;
}

/** Aloud is how a turn was said: times in milliseconds, and of a response that was cut what was heard of it. */
export interface Aloud {
  length_ms?: number;
  detect_ms?: number;
  transcribe_ms?: number;
  think_ms?: number;
  first_audio_ms?: number;
  cut?: boolean;
  heard?: string;
}

export interface Contact {
  id: string;
  name: string;
  email: string;
  number: string;
  user_id?: string;
  username?: string;
  language: string;
  verified: boolean;
  visitor_id: string;
  created_at: string;
  seen_at: string;
}

export interface Thread {
  conversation: Conversation;
  contact: Contact;
  turns: Turn[];
  more: boolean;
  window?: ReplyWindow;
  review?: Review;
  deliveries?: Delivery[];
}

/** ReplyWindow is until when replies may be sent over a messaging channel, to whom and by whom. */
export interface ReplyWindow {
  until: string;
  number: string;
  user_id?: string;
  sender_id: string;
  sender: string;
  provider: string;
}

/** Delivery is where a reply over a messaging channel stands. */
export interface Delivery {
  seq: number;
  state: "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "unknown";
  reason?: string;
  detail?: string;
}

/** Offered is an approved template, with the keys of the values that it needs. */
export interface Offered {
  name: string;
  language: string;
  category: string;
  components: TemplateComponent[];
  needs: string[];
}

export interface Teammate {
  account_id: string;
  name: string;
  email: string;
  role: Role;
  present: boolean;
  away: boolean;
}

export interface Reply {
  id: string;
  shortcut: string;
  text: string;
}

/** Update is the data of the event conversation.updated. */
export interface Update {
  v: number;
  conversation: Conversation;
  turns: Turn[];
  review?: Review;
}

/** Passing is the data of the events typing and viewing. */
export interface Passing {
  conversation_id: string;
  author: Author;
  name?: string;
  account_id?: string;
}

/** Presence is the data of the event presence. */
export interface Presence {
  account_id: string;
  name: string;
  present: boolean;
  away: boolean;
}
