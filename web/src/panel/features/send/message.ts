// What the form has, as a request.
import type { ReactNode } from "react";
import { why } from "../../ui/problem";
import { Problem } from "../../api";
import { numberIn } from "../../ui/number";
import { placesOf } from "../templates/variables";
import type { Kind, Template } from "./types";

/** Person is a recipient; the name may be empty. */
export interface Person {
  number: string;
  name: string;
}

/** afters are the times after which somebody whom a message has not reached may be called. */
export const afters = ["5m", "15m", "30m", "1h", "4h", "24h"] as const;

/** FollowUp is the call to people whom a message does not reach. */
export interface FollowUp {
  after: string;
  agent: string;
  line: string;
}

export interface Message {
  template?: Template;
  to: Person[];
  values: Record<string, string>;
  /** campaign is the name of the template where it is empty. */
  campaign: string;
  kind: Kind;
  event: string;
  at: string;
  zone: string;
  fallback?: FollowUp;
}

/** seconds is a time of a field of the type datetime-local, as requests have it. */
export function seconds(at: string): string {
  return at.length === 16 ? at + ":00" : at;
}

/** campaignOf is the campaign of a message: where the form names none, the template's name. */
export function campaignOf(m: { campaign: string; template?: { name: string } }): string {
  return m.campaign.trim() || (m.template?.name ?? "");
}

/** contactOf is a person as a request has one. The first word of a name is the first name. */
export function contactOf(p: Person): Record<string, string> {
  const name = p.name.trim().replace(/\s+/g, " ");
  return { number: toSend(p.number), ...(name ? { name, first_name: name.split(" ")[0]! } : {}) };
}

/** bodyOf is the request that sends a message. */
export function bodyOf(m: Message): Record<string, unknown> {
  const t = m.template;
  const contacts = m.to.map(contactOf);
  return {
    ...(contacts.length > 1 ? { contacts } : { contact: contacts[0] ?? { number: "" } }),
    recipient_id: t?.sender ?? "",
    name_template: t?.name ?? "",
    language_template: t?.language ?? "",
    notification_type: m.kind,
    campaign_name: campaignOf(m),
    ...(m.event.trim() ? { name_event: m.event.trim() } : {}),
    ...(t && keysOf(t, m.values).length > 0
      ? { components_push: Object.fromEntries(keysOf(t, m.values).map((key) => [key, m.values[key] ?? ""])) }
      : {}),
    ...(m.at ? { datetime_sending: seconds(m.at), timezone: m.zone } : {}),
    ...(m.fallback
      ? {
          fallback: {
            channel: "call",
            after: m.fallback.after,
            recipient_id: m.fallback.line,
            agent_id: m.fallback.agent,
          },
        }
      : {}),
  };
}

/** keysOf are the keys of the values that a template needs, and of those that it may have and has. */
function keysOf(t: Template, values: Record<string, string>): string[] {
  const more = placesOf(t.components ?? [])
    .map((p) => p.key)
    .filter((key) => !t.variables.includes(key) && values[key]?.trim());
  return [...t.variables, ...more];
}

/** toSend is a number as requests have one; what is none stays as it is written, for the server to refuse. */
export function toSend(text: string): string {
  return numberIn(text) || text.trim();
}

const placeholder = /^\s*\{\{\s*([^{}]+?)\s*\}\}\s*$/;

/** named reports whether a value is taken from the recipient's name. */
export function named(values: Record<string, string>, keys: string[]): boolean {
  return keys.some((key) => ["first_name", "name"].includes(placeholder.exec(values[key] ?? "")?.[1] ?? ""));
}

/** shownValues are the values as the person gets them; undefined: the person has none of that name. */
export function shownValues(
  values: Record<string, string>,
  contact: Record<string, string>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(values).map(([key, text]) => {
      const name = placeholder.exec(text)?.[1];
      return [key, name === undefined ? text : contact[name] || undefined];
    }),
  );
}

const fields: Record<string, string> = {
  contact: "to",
  contacts: "to",
  campaign_name: "campaign",
  name_event: "event",
  datetime_sending: "at",
  timezone: "zone",
  notification_type: "kind",
  name_template: "template",
  language_template: "template",
  recipient_id: "template",
};

/** faultsOf are the faults of a refused request at the fields of the form: a component's key, or a name of Message. */
export function faultsOf(
  e: unknown,
  values: Record<string, string>,
  missing: string,
  past: string,
): Record<string, ReactNode> {
  if (!(e instanceof Problem)) return {};
  if (e.code === "variable_mismatch") {
    const lacking = Array.isArray(e.details.missing) ? (e.details.missing as string[]) : [],
      wrong = Array.isArray(e.details.unexpected) ? (e.details.unexpected as string[]) : [];
    const all = [...lacking, ...wrong].flatMap((x) =>
      x in values ? [x] : Object.keys(values).filter((key) => placeholder.exec(values[key] ?? "")?.[1] === x),
    );
    return Object.fromEntries(all.map((key) => [key, missing]));
  }
  if (e.code === "agent_not_found") return { "fallback.agent_id": why(e) };
  if (e.code === "template_not_found" || e.code === "template_not_approved") return { template: why(e) };
  if (!e.field) return {};
  if (e.field.split(".")[0] === "fallback") return { [e.field]: why(e) };
  const component = /^components_push\.(.+)$/.exec(e.field)?.[1];
  const field = component ?? fields[e.field.split(".")[0]!];
  return field ? { [field]: "current_time" in e.details ? past : why(e) } : {};
}
