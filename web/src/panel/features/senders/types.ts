// What the panel's interface says of messaging senders.
import type { Schemas } from "../../api";
import type { Breaker } from "../lines/types";

export type FindingState = Schemas["ProviderFindingState"];
/** Finding is one item of a check, with the code of what was found. */
export type Finding = Schemas["ProviderFinding"];
/** Report is what a sender's channel says of it. */
export type Report = Schemas["ChannelsReportRow"];
/** SenderRow is a messaging sender in the list. */
export type SenderRow = Schemas["ChannelsSenderRow"] & { report: Report };
export interface CloudSettings {
  base_url?: string;
  version?: string;
  phone_number_id?: string;
  waba_id?: string;
  access_token?: string;
  app_secret?: string;
  verify_token?: string;
  agent?: string;
}
export type UnknownPolicy = Partial<Record<"transactional" | "utility" | "marketing", "retry" | "fail">> & {
  after?: string;
};
/** MessagingSender is a sender with its settings. Secrets are written and never read; secrets names those that are set. */
export interface MessagingSender {
  id: string;
  number: string;
  channel: "messaging";
  provider: string;
  default: boolean;
  per_second: number;
  per_recipient_interval: string;
  media_check: "full" | "syntax";
  unknown_outcome: UnknownPolicy;
  settings: CloudSettings;
  secrets: string[];
  callback?: { url: string; public: boolean };
  breaker: Breaker;
  max_concurrent?: number;
}
export type NewSender = Partial<Pick<MessagingSender, "id" | "default">> & {
  number: string;
  channel: "messaging";
  provider: string;
  settings: CloudSettings;
};
/** Calls are the settings of a sender for calls over WhatsApp. */
export type Calls = Schemas["ChannelsCallsRow"];
export type CallsRequest = Schemas["ChannelsCallsRequest"];
/** SignUpDialog is what Facebook's dialog needs; it is empty without an app of the operator's. */
export type SignUpDialog = Schemas["ChannelsSignUpDialog"];
export type SignUpRequest = Schemas["ChannelsSignUpRequest"];
/** SenderState is how a sender is at the moment. */
export type SenderState = Schemas["ChannelsSenderState"];
