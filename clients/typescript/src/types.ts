// The shapes of requests and responses, from the description of the interface (internal/edge/api/openapi.yaml).
import type { components } from "./api.gen.js";

type Schemas = components["schemas"];

/** A template message to send: one contact, or 1 to 100 contacts. */
export type Message = Exclude<
  Schemas["MessagingRequest"],
  { "contact.number": string } | { "contact.user_id": string }
>;
/** A call to place. */
export type VoiceCall = Exclude<
  Schemas["VoiceRequest"],
  { "contact.number": string }
>;
export type Contact = Schemas["Contact"];
export type CalledContact = Schemas["CalledContact"];
export type Accepted = Schemas["Accepted"] & {
  /** An earlier request with the same key was accepted, and this is its response. */
  replayed: boolean;
};
/** A message to a person who wrote within the last 24 hours. */
export type Answer = Omit<Schemas["MessageRequest"], "message_id" | "typing">;
export type Answered = Schemas["MessageAccepted"] & {
  /** An earlier request with the same key was accepted, and this is its response. */
  replayed: boolean;
};
export type AnswerState = Schemas["FreeMessage"];
export type Summary = Schemas["NotificationSummary"];
export type Notification = Schemas["Notification"];
export type Recipient = Schemas["Recipient"];
/** The call to each recipient whose message fails or is not delivered in time. */
export type Fallback = Schemas["Fallback"];
/** The fallback of one recipient. */
export type FollowUp = Schemas["FollowUp"];
export type Canceled = Schemas["Canceled"];
export type Moved = Schemas["Moved"];
export type CallDetails = Schemas["Call"];
export type Media = Schemas["Media"];
export type Template = Schemas["Template"];
export type Draft = Schemas["TemplateDraft"];
export type TemplateEdit = Schemas["TemplateEdit"];
export type CreatedTemplate = Schemas["TemplateCreated"]["template"];
export type Usage = Schemas["Usage"];
export type Suppression = Schemas["Suppression"];
export type Webhook = Schemas["Webhook"];
export type WebhookRequest = Schemas["WebhookRequest"];
export type WebhookStatus = Schemas["WebhookStatus"];
export type Delivery = Schemas["Delivery"];
export type Replay = Schemas["ReplayRequest"];
export type Replayed = Schemas["Replayed"];
export type EventType = Schemas["EventKind"];
export type EventPage = Schemas["EventPage"];
export type Session = Schemas["Session"];
export type User = Schemas["User"];
export type AccessKey = Schemas["KeyList"]["validApiKeys"][number];
export type CompanyToken = Schemas["CompanyToken"];

/** Something that happened, as webhooks bring it and as it is pulled. */
export interface CarillonEvent {
  /** The same whenever it is sent. */
  id: string;
  type: EventType;
  timestamp: string;
  version: number;
  /** Of two events of one message, call, template or conversation, the greater is the later one. */
  sequence: number;
  /** It never happened. */
  test?: boolean;
  data: EventData;
}

/** The fields of events; which ones there are depends on the type. */
export interface EventData {
  notification_id?: string;
  message_id?: string;
  call_id?: string;
  conversation_id?: string;
  template_id?: string;
  number?: string;
  campaign?: string;
  sender_id?: string;
  status?: string;
  previous_status?: string;
  reason?: string;
  attempt?: number;
  reply_to?: string;
  choice_id?: string;
  [field: string]: unknown;
}

/** Which notifications are listed. What is left out selects nothing. */
export interface Filter {
  campaign?: string;
  type?: "marketing" | "transactional" | "utility";
  channel?: "messaging" | "voice";
  state?: Schemas["NotificationState"];
  sender?: string;
  number?: string;
  /** Accepted at this instant or later. */
  from?: Date | string;
  /** Accepted before this instant. */
  to?: Date | string;
  /** Rows of one request, at most 100. */
  pageSize?: number;
}
