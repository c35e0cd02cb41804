import "../../ui/chart/outcome.css";
import {
  IconAlertTriangle,
  IconCalendarTime,
  IconCheck,
  IconChecks,
  IconCircleCheck,
  IconCircleX,
  IconClock,
  IconEye,
  IconPlayerSkipForward,
  IconSend,
  IconX,
  type Icon,
} from "@tabler/icons-react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Tag, type Tone } from "../../ui/parts";
import { time } from "../calls/format";
import { outcomeOf, type Sendings } from "./outcome";
import { countTexts, stateText, texts } from "./texts";
import type { Counts } from "./types";

const looks: Record<string, [Icon, Tone | undefined]> = {
  scheduled: [IconCalendarTime, undefined],
  queued: [IconClock, undefined],
  sending: [IconSend, "accent"],
  sent: [IconCheck, "accent"],
  delivered: [IconChecks, "ok"],
  read: [IconEye, "ok"],
  failed: [IconCircleX, "danger"],
  partly_failed: [IconAlertTriangle, "warn"],
  canceled: [IconX, undefined],
  skipped: [IconPlayerSkipForward, undefined],
  in_progress: [IconSend, "accent"],
  completed: [IconCircleCheck, "ok"],
  dialing: [IconSend, "accent"],
  ringing: [IconSend, "accent"],
  busy: [IconAlertTriangle, "warn"],
  no_answer: [IconAlertTriangle, "warn"],
  rejected: [IconAlertTriangle, "warn"],
  voicemail: [IconAlertTriangle, "warn"],
};

/** State is where a notification or message stands, by a picture and a word. */
export function State({ state }: { state: string }) {
  const t = useTexts(texts);
  const [Icon, tone] = looks[state] ?? [IconClock, undefined];
  return (
    <Tag tone={tone}>
      <Icon size={14} stroke={2} aria-hidden="true" />
      {stateText(t, state)}
    </Tag>
  );
}

/** Outcome is what became of a notification or campaign; a scheduled one says for when. */
export function Outcome({ of }: { of: Sendings }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const state = outcomeOf(of);
  if (state !== "scheduled" || !of.scheduled_time) return <State state={state} />;
  const at = time(of.scheduled_time, language);
  const [before, after] = t.scheduledFor.split("{time}");
  return (
    <Tag>
      <IconCalendarTime size={14} stroke={2} aria-hidden="true" />
      <time className="sent-due" dateTime={of.scheduled_time} title={fill(t.scheduledFor, { time: at })}>
        <span>{before}</span>
        {at}
        {after}
      </time>
    </Tag>
  );
}

// From the best to the worst, so that the same is always in the same place.
const order = [
  "read",
  "delivered",
  "completed",
  "sent",
  "in_progress",
  "ringing",
  "dialing",
  "sending",
  "queued",
  "scheduled",
  "busy",
  "no_answer",
  "rejected",
  "voicemail",
  "skipped",
  "canceled",
  "failed",
];

/** inOrder are counts from the best state to the worst. */
export function inOrder(counts: Counts): [string, number][] {
  return order.filter((s) => (counts[s] ?? 0) > 0).map((s) => [s, counts[s]!]);
}

/** Bar is how many recipients are in which state: as a bar, and in words. */
export function Bar({ counts, children }: { counts: Counts; children?: React.ReactNode }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const all = inOrder(counts);
  const total = all.reduce((sum, [, n]) => sum + n, 0);
  const c = useTexts(countTexts) as Record<string, string>;
  const words = all.map(([s, n]) =>
    total === 1 ? stateText(t, s) : `${number(n, language)} ${c[s]!.split("|")[n === 1 ? 0 : 1]}`,
  );
  return (
    <span className="sent-result">
      <span className="sent-bar" aria-hidden="true">
        {all.map(([s, n]) => (
          <i key={s} data-state={s} style={{ flexGrow: n }} />
        ))}
      </span>
      <span className="small sent-words" title={words.join(" · ")}>
        {words.join(" · ")}
        {children}
      </span>
    </span>
  );
}
