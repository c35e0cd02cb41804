import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { address } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts, type TextsOf } from "../../i18n";
import type { PhoneCall } from "./types";
import { Ago } from "../../ui/Ago";
import { Tag, type Tone } from "../../ui/parts";
import { doesOf, texts } from "./texts";

type Text = keyof TextsOf<typeof texts>;

function stateOf(c: PhoneCall): { text: Text; tone?: Tone } {
  if (c.code) return { text: "refused", tone: "warn" };
  if (!c.ended_at) return c.answered_at ? { text: "talking", tone: "accent" } : { text: "ringing", tone: "accent" };
  return c.answered_at ? { text: "over", tone: "ok" } : { text: "gone" };
}

/** PhoneCallState is how far a call to the phone is. */
export function PhoneCallState({ call: c }: { call: PhoneCall }) {
  const t = useTexts(texts);
  const { text, tone } = stateOf(c);
  return <Tag tone={tone}>{fill(t[text], { code: c.code })}</Tag>;
}

/** PhoneCallRow is a call that the phone got, with what it heard. */
export function PhoneCallRow({ call: c }: { call: PhoneCall }) {
  const t = useTexts(texts);
  return (
    <li className="phone-call">
      <div className="phone-call-head">
        {c.call_id ? (
          <Link className="row-title" to="/calls/$id" params={{ id: c.call_id }}>
            {phone(c.number)}
          </Link>
        ) : (
          <span className="row-title">{phone(c.number)}</span>
        )}
        <PhoneCallState call={c} />
        {c.keys && <Tag>{fill(t.pressed, { keys: c.keys })}</Tag>}
        {!c.call_id && <Tag>{t.test}</Tag>}
        <span className="small muted phone-call-at">
          <Ago at={c.at} />
        </span>
      </div>
      <div className="small muted">{doesOf(t, c.suffix)}</div>
      {c.heard_ms > 0 && c.ended_at && <Heard call={c} />}
    </li>
  );
}

/** Heard plays what the phone heard. It is fetched once somebody wants it. */
export function Heard({ call: c }: { call: PhoneCall }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [open, setOpen] = useState(false);
  if (!open)
    return (
      <div>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlayerPlay size={14} />}
          onClick={() => setOpen(true)}
        >
          {t.heard} · {number(Math.round(c.heard_ms / 1000), language)} s<span className="hidden">, {c.number}</span>
        </Button>
      </div>
    );
  return (
    <audio
      controls
      autoPlay
      aria-label={fill(t.play, { number: c.number })}
      src={address(`/sandbox/calls/${encodeURIComponent(c.id)}/recording`)}
    />
  );
}
