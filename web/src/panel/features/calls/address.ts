import type { CallRange } from "../charts/Calls";
import { callStates, type CallState } from "./types";
import { textOf } from "../../next";

/** groups are the states that are looked for together. */
export const groups = {
  under_way: ["dialing", "ringing", "in_progress"],
  waiting: ["scheduled", "queued"],
  unreached: ["busy", "no_answer", "rejected", "voicemail"],
} satisfies Record<string, CallState[]>;
export type Group = keyof typeof groups;
export type StateFilter = Group | CallState;

/** Address is what the address of the list says beside the company. */
export interface Address {
  direction?: "incoming";
  state?: StateFilter;
  agent?: string;
  line?: string;
  number?: string;
  campaign?: string;
  range?: CallRange; // of the chart; the last 24 hours are usual
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (s.direction === "incoming") a.direction = "incoming";
  if (s.range === "7d" || s.range === "30d") a.range = s.range;
  if (typeof s.state === "string" && (s.state in groups || callStates.includes(s.state as CallState)))
    a.state = s.state as StateFilter;
  for (const name of ["agent", "line", "number", "campaign"] as const) {
    const text = textOf(s[name]);
    if (text) a[name] = text;
  }
  return a;
}

/** queryOf is the query of the route that lists calls. */
export function queryOf(a: Address): Record<string, string | undefined> {
  const state = a.state && (a.state in groups ? groups[a.state as Group].join(",") : a.state);
  return {
    direction: a.direction,
    state,
    agent: a.agent,
    line: a.line,
    number: a.number,
    campaign: a.direction ? undefined : a.campaign,
  };
}

export function narrowed(a: Address): boolean {
  return Object.keys(a).some((k) => k !== "direction" && k !== "range");
}

export const nothing: Partial<Record<keyof Address, undefined>> = {
  state: undefined,
  agent: undefined,
  line: undefined,
  number: undefined,
  campaign: undefined,
};
