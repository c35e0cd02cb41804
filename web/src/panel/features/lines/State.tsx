import { English } from "../../ui/English";
import { Button } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { absolute, number, relative } from "../../format";
import { fill, useLanguage, useTexts, type TextsOf } from "../../i18n";
import { useCan } from "../../session";
import type { Registration, VoiceLine } from "./types";
import { useNow } from "../../ui/Ago";
import { Card, Note, Tag, type Tone } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { texts } from "./texts";
import { useLineChanges } from "./useLines";

type Text = keyof TextsOf<typeof texts>;

/** stateOf is how a line is, in a word: what holds its calls back goes before how its trunk responded. */
export function stateOf(l: VoiceLine): { text: Text; tone?: Tone } {
  const h = l.line.health;
  if (l.breaker.state === "open") return { text: "paused", tone: "danger" };
  if (l.breaker.state === "half_open") return { text: "trying", tone: "warn" };
  if (l.provider === "sandbox") return { text: "built", tone: "ok" };
  if (l.provider !== "sip") return { text: "other", tone: "warn" };
  const r = l.line.registration?.state;
  if (r === "refused" || r === "unanswered") return { text: "unregistered", tone: "danger" };
  if (!h) return r === "registered" ? { text: "well", tone: "ok" } : { text: "unknown" };
  return h.responds
    ? { text: "well", tone: "ok" }
    : { text: h.problem === "denied" ? "denied" : "down", tone: "danger" };
}

export function LineState({ line }: { line: VoiceLine }) {
  const t = useTexts(texts);
  const { text, tone } = stateOf(line);
  return <Tag tone={tone}>{t[text]}</Tag>;
}

/** Calls is how many are under way. */
export function Calls({ line: l }: { line: VoiceLine }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const n = l.line.under_way;
  if (n === null) return <span className="muted">–</span>;
  if (n === 0 && l.line.max_concurrent === 0) return <span className="muted">{t.nowNone}</span>;
  const text =
    l.line.max_concurrent > 0
      ? fill(t.bounded, { n: number(n, language), most: number(l.line.max_concurrent, language) })
      : fill(t.unlimited, { n: number(n, language) });
  return n > 0 ? <Tag tone="accent">{text}</Tag> : <span className="muted">{text}</span>;
}

/** RegistrationNote says whether the trunk knows where to send the line's calls. */
function RegistrationNote({ registration: r }: { registration: Registration }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  const reason = `${r.code} ${r.reason}`.trim();
  if (r.state === "refused" || r.state === "unanswered")
    return (
      <Note tone="danger">
        <p>{r.state === "refused" ? fill(t.registrationRefused, { reason }) : t.registrationUnanswered}</p>
        <p className="small muted">
          {fill(t.checkedAt, { ago: relative(r.at, language, Math.max(now, Date.parse(r.at))) })}
        </p>
      </Note>
    );
  return (
    <p className="muted flat" role="status">
      {r.state === "registered" ? fill(t.registered, { time: absolute(r.until, language) }) : t.registrationUnknown}
    </p>
  );
}

/** StateCard says how a line is and what to do about it. The trunk is asked once when the page is opened. */
export function StateCard({ line: l }: { line: VoiceLine }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  const can = useCan()("senders:write");
  const { check } = useLineChanges();
  const [busy, setBusy] = useState(false);
  const trunk = l.provider === "sip";
  const ask = async (quiet: boolean) => {
    setBusy(true);
    try {
      await check(l.id);
    } catch (e) {
      if (!quiet) failed(e);
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    if (trunk && can) void ask(true);
  }, [l.id, l.line.trunk]);
  const h = l.line.health;
  const b = l.breaker;
  const why = b.class && b.class in t ? t[b.class as Text] : t.fault;
  return (
    <Card
      title={t.state}
      actions={
        trunk &&
        can && (
          <Button
            variant="default"
            size="compact-sm"
            loading={busy}
            leftSection={<IconRefresh size={14} />}
            onClick={() => void ask(false)}
          >
            {t.check}
          </Button>
        )
      }
    >
      <div className="stack" style={{ gap: 12 }}>
        <div className="line-facts">
          <LineState line={l} />
          <span>
            <span className="muted">{t.calls}:</span> <Calls line={l} />
          </span>
        </div>
        {b.state !== "closed" && (
          <Note tone={b.state === "open" ? "danger" : "warn"}>
            <p>
              {b.state === "open"
                ? fill(t.breakerOpen, { time: b.until ? absolute(b.until, language) : "?", why })
                : fill(t.breakerTrying, { why })}{" "}
              {t.breakerHow}
            </p>
            {b.detail && (
              <p className="small mono">
                <English>{b.detail}</English>
              </p>
            )}
          </Note>
        )}
        {trunk && (
          <div role="status">
            {!h ? (
              <p className="muted flat">{t.checkedNot}</p>
            ) : h.responds ? (
              <p className="muted flat">
                {fill(t.checkedOk, { reason: `${h.code} ${h.reason}`.trim(), ms: number(Math.max(1, h.ms), language) })}
              </p>
            ) : (
              <Note tone="danger">
                <p>{h.problem === "denied" ? t.checkedDenied : t.checkedDown}</p>
              </Note>
            )}
            {h && (
              <p className="small muted line-asked">
                {fill(t.checkedAt, { ago: relative(h.at, language, Math.max(now, Date.parse(h.at))) })}
              </p>
            )}
          </div>
        )}
        {l.line.registration && <RegistrationNote registration={l.line.registration} />}
      </div>
    </Card>
  );
}
