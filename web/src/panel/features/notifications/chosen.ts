import { messageStates, type MessageState, type Recipient } from "./types";

/** Chosen is what the address of a notification says beside it: which recipients are listed, and whose message is shown. */
export interface Chosen {
  state?: MessageState;
  m?: number;
}

/** chosenOf reads an address that anybody may have written. */
export function chosenOf(s: Record<string, unknown>): Chosen {
  const c: Chosen = {};
  if (messageStates.includes(s.state as MessageState)) c.state = s.state as MessageState;
  if (Number.isInteger(s.m) && (s.m as number) >= 0) c.m = s.m as number;
  return c;
}

/** shownOf is the recipient whose message is shown: the one that is asked for, else the first that failed, else the first. */
export function shownOf(all: Recipient[], c: Chosen): Recipient | undefined {
  const among = c.state ? all.filter((r) => r.state === c.state) : all;
  return all.find((r) => r.n === c.m) ?? among.find((r) => r.state === "failed") ?? among[0] ?? all[0];
}
