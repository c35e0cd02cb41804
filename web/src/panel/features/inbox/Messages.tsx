// What conversations over messaging channels show besides.
import {
  IconAlertTriangle,
  IconBrandWhatsapp,
  IconCheck,
  IconChecks,
  IconClock,
  IconQuestionMark,
  IconUsersGroup,
} from "@tabler/icons-react";
import { absolute } from "../../format";
import { fill, useTexts } from "../../i18n";
import { enclosedTexts, messageTexts as texts, type InboxTexts } from "./texts";
import { clock } from "./format";
import { phone } from "../../ui/number";
import type { Delivery, Turn } from "./types";

/** ChannelMark marks a conversation over a messaging channel, with who the contact is there where there is room, or as a group's. */
export function ChannelMark({ who, group }: { who?: string; group?: boolean }) {
  const t = useTexts(texts);
  const e = useTexts(enclosedTexts);
  if (group)
    return (
      <span className="inbox-voice" title={e.inGroup}>
        <IconUsersGroup size={14} aria-hidden />
        <span className="hidden">{t.channel} </span>
        <span className="inbox-channel">{e.group}</span>
      </span>
    );
  return (
    <span className="inbox-voice" title={t.channel}>
      <IconBrandWhatsapp size={14} aria-hidden />
      {who ? (
        <>
          <span className="hidden">{t.channel} </span>
          {phone(who)}
        </>
      ) : (
        <span className="inbox-channel">{t.channel}</span>
      )}
    </span>
  );
}

const icons = {
  queued: IconClock,
  sending: IconClock,
  sent: IconCheck,
  delivered: IconChecks,
  read: IconChecks,
  failed: IconAlertTriangle,
  unknown: IconQuestionMark,
} as const;

/** Tick is where a reply stands; of one that was not sent also why. */
export function Tick({ d }: { d: Delivery }) {
  const t = useTexts(texts);
  const Icon = icons[d.state] ?? IconQuestionMark;
  const why =
    d.state === "failed" || d.state === "unknown" ? ((t as Record<string, string>)[d.reason ?? ""] ?? d.reason) : "";
  return (
    <p className="inbox-tick" data-state={d.state} title={d.detail || undefined}>
      <Icon size={14} stroke={1.9} aria-hidden />
      {d.mail ? t[`mail_${d.state}` as "mail_sent"] : t[d.state]}
      {why && `: ${why}`}
    </p>
  );
}

/** Template is a template that a teammate sent. */
export function Template({
  turn,
  me,
  t,
  language,
  sent,
}: {
  turn: Turn;
  me: string;
  t: InboxTexts;
  language: string;
  sent?: Delivery;
}) {
  const m = useTexts(texts);
  return (
    <div className="inbox-turn" data-side="us" data-first="yes" data-kind="teammate">
      <p className="inbox-who">
        {fill(m.by, { name: turn.account_id === me ? t.you : turn.name || t.someone })}{" "}
        <time dateTime={turn.at} title={absolute(turn.at, language)}>
          {clock(turn.at, language)}
        </time>
      </p>
      <div className="inbox-bubble inbox-template">{turn.text}</div>
      {sent && <Tick d={sent} />}
    </div>
  );
}
