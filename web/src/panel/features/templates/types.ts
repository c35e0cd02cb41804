export const statuses = ["draft", "pending", "approved", "rejected", "paused", "disabled"] as const;
export type Status = (typeof statuses)[number];
export const categories = ["UTILITY", "MARKETING", "AUTHENTICATION"] as const;
export type Category = (typeof categories)[number];

/** TemplateRow is a template; variables are the keys of the values that it needs. */
export interface TemplateRow {
  id: string;
  provider_id?: string;
  name: string;
  language: string;
  status: Status;
  reason?: string;
  category: string;
  sender: string;
  number: string;
  provider: string;
  parameter_format: string;
  components: TemplateComponent[];
  variables: string[];
  body: string;
  created_at: string;
  updated_at: string;
  version: string;
}

/** editable reports whether a template may be changed: what the channel has approved stays as it is. */
export function editable(t: { status: Status }): boolean {
  return t.status === "draft" || t.status === "rejected" || t.status === "pending";
}

/** Text is what authors write of a template. */
export interface Text {
  name: string;
  language: string;
  category: string;
  components: TemplateComponent[];
}
export interface Change {
  at: string;
  action: "created" | "edited" | "submitted" | "refused" | "decided" | "categorized";
  by: { kind: "account" | "key" | "channel" | "setup" | "system"; name?: string };
  status: Status;
  reason?: string;
  before?: Text;
  after?: Text;
}

/** SyncRow is what came of the last comparison of a sender's templates with those of its channel. */
export interface SyncRow {
  sender: string;
  number: string;
  at: string;
  found: number;
  changed: number;
  missing: number;
  error?: string;
}

/** MessagingSender is a sender in the list of senders. */
export interface MessagingSender {
  id: string;
  number: string;
  channel: string;
  provider: string;
  default: boolean;
}

/** TemplateComponent is a part of a template. */
export interface TemplateComponent {
  type: string;
  format?: string;
  text?: string;
  example?: TemplateExample;
  buttons?: TemplateButton[];
}

export interface TemplateButton {
  type: string;
  text: string;
  url?: string;
  phone_number?: string;
  example?: string[];
}

/** TemplateExample has the sample values for the reviewer, in the channel's form. */
export interface TemplateExample {
  header_text?: string[];
  header_handle?: string[];
  header_text_named_params?: NamedSample[];
  body_text?: string[][];
  body_text_named_params?: NamedSample[];
}

export interface NamedSample {
  param_name: string;
  example: string;
}
