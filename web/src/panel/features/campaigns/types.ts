import type { Schemas } from "../../api";
import type { Figures } from "../../ui/rates";
import type { Sendings } from "../notifications/outcome";
import type { Counts } from "../notifications/types";

/** Campaign is what became of its recipients, as far as they are counted. delivered has those that were read too. */
export type Campaign = Schemas["SendingCampaignRow"] & Partial<Schemas["SendingCampaignShown"]>;
export type CampaignPage = Schemas["SendingCampaignPage"];

export type Reached = Schemas["NotifyReached"];
export type Reasons = Schemas["SendingCampaignReasons"];

/** groups are the states of recipients that are looked for together. */
export const groups = {
  read: ["read"],
  delivered: ["delivered", "completed", "in_progress"],
  unconfirmed: ["sent", "ringing", "dialing"],
  waiting: ["scheduled", "queued", "sending"],
  failed: ["failed", "busy", "no_answer", "rejected", "voicemail"],
  left_out: ["skipped", "canceled"],
} satisfies Record<string, string[]>;
export type Group = keyof typeof groups | "not_reached";

/** statesOf are the states of a group; those who were not reached failed or were left out. */
export function statesOf(g: Group): string[] {
  return g === "not_reached" ? [...groups.failed, ...groups.left_out] : groups[g];
}

/** Address holds the filters in the address of a campaign. */
export interface Address {
  show?: Group;
  reason?: string;
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (s.show === "not_reached" || (typeof s.show === "string" && Object.hasOwn(groups, s.show)))
    a.show = s.show as Group;
  if (typeof s.reason === "string" && /^[a-z_]{1,64}$/.test(s.reason)) a.reason = s.reason;
  return a;
}

/** queryOf is the query of the routes that list and export recipients. */
export function queryOf(name: string, a: Address): Record<string, string | undefined> {
  return { name, state: a.show && statesOf(a.show).join(","), reason: a.reason };
}

/** figuresOf are the figures of a campaign's rates. */
export const figuresOf = (c: Campaign): Figures => ({ ...c, accepted: c.recipients });

/** sendingsOf is what a campaign's outcome is made of. */
export const sendingsOf = (c: Campaign): Sendings => ({ counts: countsOf(c), scheduled_time: c.scheduled_at });

/** countsOf are the counts of a campaign, each recipient in one of them. */
export function countsOf(c: Campaign): Counts {
  return {
    read: c.read,
    delivered: Math.max(0, c.delivered - c.read),
    sent: c.unconfirmed,
    queued: c.waiting,
    skipped: c.skipped,
    canceled: c.canceled,
    failed: c.failed,
  };
}
