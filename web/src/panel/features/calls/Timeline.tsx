import { phone } from "../../ui/number";
import { fill, useLanguage, useTexts } from "../../i18n";
import { absolute } from "../../format";
import { Card } from "../../ui/parts";
import { clock, time } from "./format";
import { type PageTexts, pageTexts, reasonText, stateText, type CallTexts, texts } from "./texts";
import { underWay, waits, type Call, type Transfer, type Try } from "./types";

export interface Step {
  at?: string;
  text: string;
  more?: string;
  tone?: "ok" | "warn" | "danger" | "accent";
  wait?: boolean;
}

const tones: Record<string, Step["tone"]> = {
  completed: "ok",
  busy: "warn",
  no_answer: "warn",
  rejected: "warn",
  voicemail: "warn",
  failed: "danger",
};

/** Timeline is what happened to a call, in plain words. */
export function Timeline({ call }: { call: Call }) {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const language = useLanguage();
  return (
    <Card title={p.timeline}>
      <ol className="calls-timeline">
        {stepsOf(call, t, p, language).map((s, i) => (
          <li key={i} data-tone={s.tone} data-wait={s.wait ? "yes" : undefined}>
            <span>
              {s.text}
              {s.more && <span className="small muted">{s.more}</span>}
            </span>
            {s.at && (
              <time className="small muted nowrap" dateTime={s.at} title={absolute(s.at, language)}>
                {time(s.at, language, true)}
              </time>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** stepsOf are the steps of a call, the first one first. */
export function stepsOf(c: Call, t: CallTexts, p: PageTexts, language: string): Step[] {
  if (c.direction === "incoming") return within(taken(c, t, p), c, p);
  const steps: Step[] = [{ at: c.created_at, text: p.requested }];
  if (c.scheduled_time)
    steps.push({
      text: fill(p.scheduledFor, { time: time(c.scheduled_time, language) }),
      wait: c.state === "scheduled",
    });
  let counted = 0;
  for (const x of c.tries) {
    if (x.counts || !x.ended_at) counted++;
    attempt(steps, x, counted, c, t, p);
  }
  within(steps, c, p);
  if (c.state === "canceled" && c.tries[c.tries.length - 1]?.state !== "canceled")
    steps.push({ at: c.ended_at, text: p.canceledAt });
  if (c.state === "skipped")
    steps.push({ at: c.ended_at, text: p.skippedAt, more: reasonText(t, c.reason), tone: "warn" });
  if (waits(c.state) && c.due_at) steps.push(waiting(c, p, language));
  return steps;
}

function attempt(steps: Step[], x: Try, n: number, c: Call, t: CallTexts, p: PageTexts): void {
  steps.push({
    at: x.dialed_at,
    text: (x.counts || !x.ended_at) && (n > 1 || c.tries.length > 1) ? fill(p.dialedN, { n }) : p.dialed,
    tone: underWay(x.state) && !x.ringing_at ? "accent" : undefined,
  });
  if (x.ringing_at) steps.push({ at: x.ringing_at, text: p.rang, tone: x.state === "ringing" ? "accent" : undefined });
  if (x.answered_at)
    steps.push({
      at: x.answered_at,
      text: p.answered,
      more: x.ended_at && c.answered_by ? t[c.answered_by as "human"] : undefined,
      tone: x.state === "in_progress" ? "accent" : undefined,
    });
  if (!x.ended_at) return;
  const fault = !x.counts && x.state === "failed" && x.reason !== "line_unavailable";
  const text = fault
    ? p.fault
    : [stateText(t, x.state), x.cause && !x.answered_at ? x.cause : ""].filter(Boolean).join(": ");
  const last = c.ended_at && x === c.tries[c.tries.length - 1];
  const more = [
    fault ? x.cause : "",
    x.answered_at
      ? fill(p.talked, { time: clock(Math.round((Date.parse(x.ended_at) - Date.parse(x.answered_at)) / 1000)) })
      : "",
    reasonText(t, x.reason),
    last && c.ended_by && (x.answered_at || c.ended_by !== "callee") ? (t[`by_${c.ended_by}` as "by_agent"] ?? "") : "",
    fault ? p.noAttempt : "",
    (fault || x.state === "failed") && x.detail && x.detail !== x.cause ? x.detail : "",
  ]
    .filter(Boolean)
    .join(" · ");
  steps.push({ at: x.ended_at, text, more, tone: fault ? "warn" : tones[x.state] });
}

/** taken are the steps of a call to a line. */
function taken(c: Call, t: CallTexts, p: PageTexts): Step[] {
  const steps: Step[] = [
    { at: c.ringing_at ?? c.created_at, text: p.rang, tone: c.state === "ringing" ? "accent" : undefined },
  ];
  if (c.answered_at)
    steps.push({ at: c.answered_at, text: p.answered, tone: c.state === "in_progress" ? "accent" : undefined });
  if (!c.ended_at) return steps;
  const more = [
    c.duration_s === undefined ? "" : fill(p.talked, { time: clock(c.duration_s) }),
    reasonText(t, c.reason),
    c.ended_by ? (t[`by_${c.ended_by}` as "by_agent"] ?? "") : "",
    c.state === "failed" ? (c.detail ?? "") : "",
  ];
  return [
    ...steps,
    {
      at: c.ended_at,
      text: c.state === "canceled" ? p.gaveUp : stateText(t, c.state),
      more: more.filter(Boolean).join(" · "),
      tone: tones[c.state],
    },
  ];
}

/** transferSteps are the steps of putting a call through to a number. */
export function transferSteps(x: Transfer, p: PageTexts): Step[] {
  const number = phone(x.number);
  const now = x.ended_at ? undefined : "accent";
  const referred = x.mode === "refer";
  const steps: Step[] = [
    {
      at: x.dialed_at,
      text: fill(referred ? p.referring : p.transferring, { number }),
      tone: x.answered_at ? undefined : now,
    },
  ];
  if (x.answered_at)
    steps.push({ at: x.answered_at, text: fill(p.consulting, { number }), tone: x.taken_at ? undefined : now });
  if (x.taken_at && referred) return [...steps, { at: x.taken_at, text: fill(p.referred, { number }), tone: "ok" }];
  if (x.taken_at) steps.push({ at: x.taken_at, text: fill(p.transferred, { number }), tone: now });
  if (!x.ended_at) return steps;
  const why = x.outcome && x.outcome !== "taken" ? p[`leg_${x.outcome}`] : "";
  const talked =
    x.taken_at && fill(p.talked, { time: clock(Math.round((Date.parse(x.ended_at) - Date.parse(x.taken_at)) / 1000)) });
  steps.push({
    at: x.ended_at,
    text: fill(talked ? p.transferEnded : p.notTransferred, { number }),
    more: [talked, why, talked ? "" : x.cause].filter(Boolean).join(" · "),
    tone: x.outcome === "taken" ? "ok" : "warn",
  });
  return steps;
}

/** within puts the steps of a call's transfers before its end: they are parts of the attempt that was answered, the last one. */
function within(steps: Step[], c: Call, p: PageTexts): Step[] {
  const more = (c.transfers ?? []).flatMap((x) => transferSteps(x, p));
  if (more.length === 0) return steps;
  if (more.some((s) => s.tone === "accent")) for (const s of steps) if (s.tone === "accent") s.tone = undefined;
  steps.splice(c.ended_at ? steps.length - 1 : steps.length, 0, ...more);
  return steps;
}

/** waiting is what a call that is not under way waits for. */
function waiting(c: Call, p: PageTexts, language: string): Step {
  const due = Date.parse(c.due_at!);
  if (due <= Date.now()) return { text: p.waitsLine, wait: true };
  const at = { time: time(c.due_at!, language) };
  if (c.tries.length > 0) return { text: fill(p.next, at), wait: true };
  const asked = Date.parse(c.scheduled_time ?? c.created_at);
  return { text: fill(due > asked + 1000 ? p.waitsHours : p.waitsTime, at), wait: true };
}
