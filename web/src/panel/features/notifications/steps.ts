import { fill } from "../../i18n";
import { time } from "../calls/format";
import { reasonText } from "./reasons";
import type { PageTexts } from "./texts";
import type { Recipient, SentPage } from "./types";

export type StepTone = "ok" | "warn" | "danger" | "accent";
/** Step is one point of a message's timeline; wait: it is still to come. */
export interface Step {
  at?: string;
  text: string;
  more?: string;
  tone?: StepTone;
  wait?: boolean;
}

/** lasted is a length of time in short: 340 ms, 1.2 s, 4 min 10 s, 3 h 5 min. */
export function lasted(ms: number, language: string): string {
  const n = (v: number, digits = 0) => new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(v);
  const s = Math.max(0, ms) / 1000;
  if (s < 1) return `${n(ms)} ms`;
  if (s < 60) return `${n(s, 1)} s`;
  if (s < 3600) return `${n(Math.floor(s / 60))} min${Math.floor(s % 60) ? ` ${n(Math.floor(s % 60))} s` : ""}`;
  return `${n(Math.floor(s / 3600))} h${Math.floor((s % 3600) / 60) ? ` ${n(Math.floor((s % 3600) / 60))} min` : ""}`;
}

/** stepsOf are the steps of one message, the first one first, each with how long it took from the one before. */
export function stepsOf(
  r: Recipient,
  n: SentPage,
  p: PageTexts,
  states: (state: string) => string,
  language: string,
  now = Date.now(),
): Step[] {
  const steps: Step[] = [{ at: n.created_at, text: p.accepted }];
  const at = (state: string): string | undefined => r.times[state + "_at"];
  const add = (state: string, step: Omit<Step, "at">) => {
    const when = at(state);
    if (!when) return;
    const before = [...steps].reverse().find((s) => s.at && Date.parse(s.at) <= Date.parse(when));
    const took = before?.at ? Date.parse(when) - Date.parse(before.at) : 0;
    steps.push({
      ...step,
      at: when,
      more: [took > 0 ? fill(p.after, { time: lasted(took, language) }) : "", step.more].filter(Boolean).join(" · "),
    });
  };
  if (n.scheduled_time)
    steps.push({
      text: fill(p.scheduledFor, { time: time(n.scheduled_time, language) }),
      wait: r.state === "scheduled",
    });
  if (at("queued") && Date.parse(at("queued")!) - Date.parse(n.created_at) > 1000)
    steps.push({ at: at("queued"), text: p.queued });
  add("sending", {
    text: r.attempts > 1 ? fill(p.attemptN, { n: r.attempts }) : p.attempt,
    tone: r.state === "sending" ? "accent" : undefined,
  });
  add("sent", { text: p.sent, tone: r.state === "sent" ? "accent" : undefined });
  add("delivered", { text: p.delivered, tone: "ok" });
  add("read", { text: p.read, tone: "ok" });
  if (r.clicked_at)
    steps.push({
      at: r.clicked_at,
      text: p.clicked,
      more: (r.clicks ?? 0) > 1 ? fill(p.clicksN, { n: new Intl.NumberFormat(language).format(r.clicks!) }) : undefined,
      tone: "ok",
    });
  add("failed", { text: p.failed, tone: "danger" });
  if (r.state === "skipped") steps.push({ at: at("skipped") ?? n.created_at, text: p.skipped, tone: "warn" });
  add("canceled", { text: p.canceled });
  for (const s of followed(r, p, states, language)) steps.push(s);
  const known = steps.filter((s) => s.at).length; // what has no instant of its own stays where it is
  if (known > 1) sortByTime(steps);
  const next = waiting(r, n, p, language, now);
  return next ? [...steps, next] : steps;
}

/** followed are the steps of the call that follows a message that is not delivered. */
function followed(r: Recipient, p: PageTexts, states: (state: string) => string, language: string): Step[] {
  const f = r.fallback;
  if (!f) return [];
  const at = f.decided_at;
  switch (f.state) {
    case "waiting":
      return [
        { text: f.due_at ? fill(p.callIfNot, { time: time(f.due_at, language, true) }) : p.callIfNever, wait: true },
      ];
    case "not_needed":
      return [{ at, text: p.callNotNeeded }];
    case "skipped":
      return [{ at, text: fill(p.callSkipped, { why: reasonText(f.reason ?? "") }), tone: "warn" }];
    case "canceled":
      return [{ at, text: p.callCanceled }];
  }
  const steps: Step[] = [{ at, text: p.calledByAgent, tone: "warn" }];
  const c = r.call;
  if (c?.ringing_at) steps.push({ at: c.ringing_at, text: p.callDialed, tone: "accent" });
  if (c?.answered_at) steps.push({ at: c.answered_at, text: p.callAnswered, tone: "ok" });
  if (f.call_state && (c?.ended_at || f.call_state !== "completed"))
    steps.push({
      at: c?.ended_at,
      text: fill(p.callEnded, { state: states(f.call_state) }),
      wait: !c?.ended_at,
      tone: f.call_state === "completed" ? "ok" : c?.ended_at ? "warn" : "accent",
    });
  return steps;
}

/** sortByTime puts the steps that have an instant into its order: receipts may overtake each other. */
function sortByTime(steps: Step[]): void {
  const places = steps.flatMap((s, i) => (s.at ? [i] : []));
  const sorted = places.map((i) => steps[i]!).sort((a, b) => Date.parse(a.at!) - Date.parse(b.at!));
  places.forEach((i, k) => {
    steps[i] = sorted[k]!;
  });
}

/** waiting is what a message still waits for. */
function waiting(r: Recipient, n: SentPage, p: PageTexts, language: string, now: number): Step | undefined {
  const due = r.due_at ? Date.parse(r.due_at) : 0;
  if (r.restored) return { text: p.ev_waits_restored, wait: true, tone: "warn" };
  if (r.held) return { text: p.waitsTemplate, wait: true, tone: "warn" };
  switch (r.state) {
    case "scheduled":
      if (Date.parse(n.scheduled_time ?? "") === due) return undefined; // the step before says so
      return { text: fill(p.waitsTime, { time: time(r.due_at ?? "", language) }), wait: true };
    case "queued":
      if (due <= now) return { text: p.waitsLane, wait: true };
      return r.attempts > 0
        ? {
            text: fill(p.nextAttempt, { time: time(r.due_at!, language, true) }),
            more: r.detail,
            wait: true,
            tone: "warn",
          }
        : { text: fill(p.waitsTime, { time: time(r.due_at!, language) }), wait: true };
    case "sending":
      return r.unknown
        ? {
            text: fill(p.unknownOutcome, { time: time(r.due_at!, language) }),
            more: r.detail,
            wait: true,
            tone: "warn",
          }
        : undefined;
    case "sent":
      return { text: p.waitsReceipt, wait: true };
    case "delivered":
      return { text: p.notRead, wait: true };
  }
  return undefined;
}
