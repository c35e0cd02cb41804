import type { Schemas } from "../../api";
/** Counts are figures of recipients; sent, delivered and read include those that came further. */
export type Counts = Schemas["SendingCounts"];

export type Counted = Schemas["SendingCounted"];

export type Kind = "transactional" | "utility" | "marketing";
export type Channel = "messaging" | "voice";
export const kinds: Kind[] = ["transactional", "utility", "marketing"];
export const channels: Channel[] = ["messaging", "voice"];

export type Overview = Schemas["SendingOverviewShown"];

export type Concern = Schemas["SystemConcern"];

export type Step = "sender" | "template" | "key" | "delivered" | "widget" | "teammate";
