import {
  IconCalendarTime,
  IconCircleCheck,
  IconCircleX,
  IconClock,
  IconPhoneCalling,
  IconPhoneCheck,
  IconPhoneOff,
  IconPhonePause,
  IconPhoneRinging,
  IconPlayerSkipForward,
  IconRobot,
  IconUser,
  IconX,
  type Icon,
} from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { Tag, type Tone } from "../../ui/parts";
import { stateText, texts, type CallTexts } from "./texts";
import { underWay, type CallState } from "./types";

const looks: Record<CallState, [Icon, Tone | undefined]> = {
  scheduled: [IconCalendarTime, undefined],
  queued: [IconClock, undefined],
  dialing: [IconPhoneCalling, "accent"],
  ringing: [IconPhoneRinging, "accent"],
  in_progress: [IconPhoneCheck, "accent"],
  completed: [IconCircleCheck, "ok"],
  busy: [IconPhonePause, "warn"],
  no_answer: [IconPhoneOff, "warn"],
  rejected: [IconPhoneOff, "warn"],
  voicemail: [IconRobot, "warn"],
  failed: [IconCircleX, "danger"],
  canceled: [IconX, undefined],
  skipped: [IconPlayerSkipForward, undefined],
};

/** State is where a call stands, by a picture and a word. */
export function State({ state }: { state: CallState }) {
  const t = useTexts(texts);
  const [Icon, tone] = looks[state] ?? [IconClock, undefined];
  return (
    <Tag tone={tone}>
      <Icon className={underWay(state) ? "calls-live" : undefined} size={14} stroke={2} aria-hidden="true" />
      {stateText(t, state)}
    </Tag>
  );
}

/** answererText is who answered, in a word. */
export function answererText(t: CallTexts, by: string): string {
  return { human: t.person, machine: t.device, screener: t.assistant, menu: t.keyMenu }[by] ?? t.unknown;
}

/** Answered is who answered; nothing where nobody did. */
export function Answered({ by }: { by?: string }) {
  const t = useTexts(texts);
  if (by !== "human" && by !== "machine" && by !== "screener" && by !== "menu") return null;
  const Icon = by === "human" ? IconUser : IconRobot;
  return (
    <span className="calls-answered" title={t[by]}>
      <Icon size={13} stroke={1.8} aria-hidden="true" />
      {answererText(t, by)}
    </span>
  );
}
