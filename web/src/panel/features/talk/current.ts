// The talk that this page holds with a visitor: one at a time. What talks is loaded with the first one.
import { useSyncExternalStore } from "react";
import { withTexts } from "../../i18n";
import type { Mic, Talk } from "../../../shared/voice/talk";

export type Phase = "connecting" | "talking" | "reconnecting";

/** Call is a talk of a teammate with a visitor, as the screen shows it. */
export interface Call {
  id: string; // of the conversation
  name: string;
  agent: boolean; // whether it can go back to one
  phase: Phase;
  since: number; // when they began to talk, in milliseconds; 0: not yet
  mic: Mic;
  blocked: boolean; // the browser plays nothing before a click
  caption: string; // what the visitor is saying at the moment, as far as it is understood
  level: Talk["level"];
}

/** Wanted is who is to be talked with. from is who has the conversation, as far as the teammate knows. */
export interface Wanted {
  id: string;
  name: string;
  agent: boolean;
  from: string;
}

let call: Call | undefined;
const listeners = new Set<() => void>();

export function currentCall(): Call | undefined {
  return call;
}

export function setCall(to: Call | undefined): void {
  call = to;
  listeners.forEach((l) => l());
}

function subscribe(l: () => void): () => void {
  listeners.add(l);
  return () => listeners.delete(l);
}

export function useCall(): Call | undefined {
  return useSyncExternalStore(subscribe, currentCall);
}

/** startCall takes a conversation and talks with its visitor. It is called in a click, so that sound may be played. */
export async function startCall(who: Wanted): Promise<void> {
  (await withTexts(() => import("./call"))()).start(who);
}

/** onTheLine reports whether the visitor of a conversation can be talked with. */
export function onTheLine(c: { channel: string; state: string }): boolean {
  return c.channel === "web_voice" && (c.state === "bot" || c.state === "queued" || c.state === "active");
}
