import type { Schemas } from "../../api";

/** Template is a template of any of the company's senders. */
export type Template = Schemas["TemplatesTemplateRow"];

export type Kind = "transactional" | "utility" | "marketing";
export const kinds: Kind[] = ["transactional", "utility", "marketing"];

/** forFiles are the templates that a file can be sent with: one-time codes are sent one by one. */
export const forFiles = <T extends { category: string }>(all: T[]): T[] =>
  all.filter((x) => x.category !== "AUTHENTICATION");

/** kindOf is the type of notification that a template is usually for. */
export function kindOf(t: { category: string } | undefined): Kind {
  return t?.category === "MARKETING" ? "marketing" : t?.category === "UTILITY" ? "utility" : "transactional";
}

export type JobState =
  "draft" | "checking" | "checked" | "sending" | "paused" | "canceling" | "done" | "canceled" | "failed";
export type FaultReason =
  | "number_missing"
  | "number_invalid"
  | "number_amount"
  | "variable_missing"
  | "text_too_long"
  | "media_invalid"
  | "address_invalid"
  | "duplicate"
  | "suppressed"
  | "refused";
export const faultReasons: FaultReason[] = [
  "number_missing",
  "number_invalid",
  "number_amount",
  "variable_missing",
  "text_too_long",
  "media_invalid",
  "address_invalid",
  "duplicate",
  "suppressed",
  "refused",
];

/** Result is what the check found of a file's rows, and what became of them. */
export type Result = Schemas["BulkResult"];

/** JobRow is a job that sends to the people of a file, in the list. */
export type JobRow = Schemas["SendingJobRow"];

/** Column is a column of the file; key is its name as a placeholder. */
export type Column = Schemas["BulkColumn"];
/** Value is where a variable's value comes from: a column, or a text that is the same for everybody. */
export type Value = Schemas["BulkValue"];
export type Settings = Schemas["BulkSettings"];
export type Job = Schemas["SendingJobPage"];

/** BadRow is a row that is not sent; Sample is one that is. */
export type BadRow = Schemas["BulkBadRow"];
export type Sample = Schemas["BulkSample"];
