// Conversations, as /panel/v1 has them (docs/reference/conversation.md).
import type { Schemas } from "../../api";
import type { Review } from "../reviews/types";

export type State = Schemas["ChatsState"];

export type Author = Schemas["ChatsAuthor"];

export type Conversation = Schemas["ChatsSummary"];

export type Listed = Schemas["ChatsListed"];

export type Counts = Schemas["ChatsCounts"];

export type Turn = Schemas["ChatsTurnView"];

/** Answer is one field of a form. */
export type Answer = Schemas["ProviderAnswer"];

/** Order is a contact's order from a catalog, with numbers as the channel has them. */
export type Order = Schemas["ProviderOrder"];

export type Card = Schemas["ProviderCard"];

/** Referral is the ad or post that led to a message. */
export type Referral = Schemas["ProviderReferral"];

/** Aloud is how a turn was said: times in milliseconds, and of a response that was cut what was heard of it. */
export type Aloud = Schemas["ChatsVoice"];

export type Contact = Schemas["ChatsContactView"];

export type Thread = Schemas["InboxThread"];

/** ReplyWindow is until when replies may be sent over a messaging channel, to whom and by whom. */
export type ReplyWindow = Schemas["InboxWindowView"];

/** Delivery is where a reply over a messaging channel stands. */
export type Delivery = Schemas["InboxDelivery"];

/** Offered is an approved template, with the keys of the values that it needs. */
export type Offered = Schemas["InboxOffered"];

export type Teammate = Schemas["InboxTeammateRow"];

export type Reply = Schemas["ChatsCanned"];

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
