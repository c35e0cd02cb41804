import type { Schemas } from "../../api";
export const statuses = ["draft", "pending", "approved", "rejected", "paused", "disabled"] as const;
export type Status = Schemas["CarillonTemplateStatus"];
export const categories = ["UTILITY", "MARKETING", "AUTHENTICATION"] as const;
export type Category = (typeof categories)[number];

/** TemplateRow is a template; variables are the keys of the values that it needs. */
export type TemplateRow = Schemas["TemplatesTemplateRow"];

/** editable reports whether a template may be changed: what the channel has approved stays as it is. */
export function editable(t: { status: Status }): boolean {
  return t.status === "draft" || t.status === "rejected" || t.status === "pending";
}

/** Text is what authors write of a template. */
export type Text = Schemas["SettingsTemplateText"];
export type Change = Schemas["TemplatesChangeRow"];

/** SyncRow is what came of the last comparison of a sender's templates with those of its channel. */
export type SyncRow = Schemas["TemplatesSyncRow"];

/** MessagingSender is a sender in the list of senders. */
export interface MessagingSender {
  id: string;
  number: string;
  channel: string;
  provider: string;
  default: boolean;
}

/** TemplateComponent is a part of a template. */
export type TemplateComponent = Schemas["CarillonComponent"];

export type TemplateButton = Schemas["CarillonButton"];

/** TemplateExample has the sample values for the reviewer, in the channel's form. */
export type TemplateExample = Schemas["CarillonComponentExample"];

export type NamedSample = Schemas["CarillonNamedExample"];
