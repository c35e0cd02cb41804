// A talk with a visitor: takes the conversation, opens the socket and the microphone, and says what came of it.
import { why } from "../../ui/problem";
import { Talk, type Closing, type Final } from "../../../shared/voice/talk";
import { address, get, post, Problem } from "../../api";
import { fill } from "../../i18n";
import { problem, succeeded } from "./say";
import { currentCall, setCall, type Call, type Phase, type Wanted } from "./current";
import { texts } from "./texts";

const tries = 3; // to reach a visitor who is connected somewhere else, or has just left

let talk: Talk | undefined;
let release: () => void = () => {};
let leaving = false;

/** start talks with a visitor, unless this browser talks with one already. */
export function start(who: Wanted): void {
  const t = texts.now;
  if (talk) {
    if (currentCall()?.id !== who.id) problem(t.busy);
    return;
  }
  const own = new Talk();
  talk = own;
  leaving = false;
  setCall({
    id: who.id,
    name: who.name,
    agent: who.agent,
    phase: "connecting",
    since: 0,
    mic: own.mic,
    blocked: false,
    caption: "",
    level: own.level,
  });
  const change = (to: Partial<Call>) => {
    const c = currentCall();
    if (talk === own && c) setCall({ ...c, ...to, level: own.level });
  };
  const free = onlyOne((busy) => {
    if (!busy || talk !== own) return;
    own.hangUp();
    problem(t.busyElsewhere);
  });
  const warn = (e: BeforeUnloadEvent) => e.preventDefault();
  window.addEventListener("beforeunload", warn);
  release = () => {
    window.removeEventListener("beforeunload", warn);
    free();
  };
  own.on("state", (s) => {
    const phase: Phase =
      s === "reconnecting" ? "reconnecting" : s === "connecting" || s === "idle" ? "connecting" : "talking";
    if (s !== "ended")
      change({ phase, since: phase === "talking" ? currentCall()?.since || Date.now() : (currentCall()?.since ?? 0) });
  });
  own.on("mic", (mic) => change({ mic }));
  own.on("blocked", (blocked) => change({ blocked }));
  own.on("heard", (h) => change({ caption: h.final ? "" : h.text }));
  let absent = false; // the last connection found nobody
  own.on("problem", () => {
    absent = true;
  });
  own.on("ready", () => {
    absent = false;
  });
  own.on("closed", (closing) => {
    if (talk === own) {
      talk = undefined;
      setCall(undefined);
    }
    release();
    ended(closing, absent, who);
  });
  own.connect(opener(who), { mic: true, live: true });
}

/** opener takes the conversation and returns the address of its socket. What no other try would change is final. */
function opener(who: Wanted): (again: boolean) => Promise<string> {
  let dials = 0;
  return async (again) => {
    if (!again && dials++ >= tries) throw final(new Problem(404, "not_found", ""));
    try {
      if (again) {
        // meanwhile it may be another's, or the visitor may have left
        const { conversation: c } = await get(`/conversations/${who.id}`);
        if (c.state !== "active") throw new Problem(404, "not_found", "");
      }
      await post(`/conversations/${who.id}/take`, { from: again ? "" : who.from });
    } catch (e) {
      throw e instanceof Problem && e.status < 500 ? final(e) : e;
    }
    return location.origin.replace(/^http/, "ws") + address(`/conversations/${who.id}/voice`);
  };
}

function final(e: Problem): Problem & Final {
  return Object.assign(e, { final: true });
}

/** ended says why a talk is over, unless the teammate ended it. */
function ended(closing: Closing, absent: boolean, who: Wanted): void {
  const t = texts.now;
  const e = closing.error;
  if (closing.by === "page" || leaving) return;
  if (e instanceof Problem && e.status === 409)
    problem(fill(t.wasTaken, { name: e.detail("assignee_name") || t.someone }));
  else if (e instanceof Problem && e.status === 404) problem(fill(t.gone, { name: who.name }));
  else if (e instanceof Problem) problem(why(e));
  else if (closing.by === "server") succeeded(fill(t.over, { name: who.name }));
  else problem(absent ? fill(t.gone, { name: who.name }) : t.lost);
}

/** onlyOne keeps the other pages of this browser from talking until the returned function is called. refused is called where another one is. */
function onlyOne(refused: (busy: boolean) => void): () => void {
  let done: () => void = () => {};
  if (!navigator.locks) return () => {};
  void navigator.locks.request("carillon.talk", { ifAvailable: true }, (lock) => {
    refused(!lock);
    return lock
      ? new Promise<void>((resolve) => {
          done = resolve;
        })
      : undefined;
  });
  return () => done();
}

/** hangUp leaves the line; the conversation goes on in writing. */
export function hangUp(): void {
  leaving = true;
  talk?.hangUp();
}

/** toAgent gives the visitor back to the agent, who goes on at once. */
export async function toAgent(): Promise<void> {
  const id = currentCall()?.id;
  const own = talk;
  if (!id || !own) return;
  leaving = true;
  if (own.send({ type: "to_agent" })) {
    setTimeout(() => {
      if (talk === own) own.hangUp();
    }, 4000);
    return;
  }
  own.hangUp();
  await post(`/conversations/${id}/release`, { to: "agent" });
}

export function mute(on: boolean): void {
  talk?.mute(on);
}
export function askForMicrophone(): void {
  void talk?.setMic(true);
}
export function hear(): void {
  talk?.hear();
}
