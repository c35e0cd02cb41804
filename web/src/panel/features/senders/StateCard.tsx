import { English } from "../../ui/English";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { absolute, number, relative } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useNow } from "../../ui/Ago";
import { Card, Failed, Note, Rows } from "../../ui/parts";
import { seconds } from "../lines/trunk";
import { limitText, span } from "./limits";
import { Quality, SenderStateTag } from "./SenderState";
import { texts } from "./texts";
import type { MessagingSender, SenderState } from "./types";

/** StateCard is how a sender is at the moment, and what holds its messages back. */
export function StateCard({
  sender,
  state,
  error,
  retry,
}: {
  sender: MessagingSender;
  state: SenderState | undefined;
  error?: unknown;
  retry: () => void;
}) {
  const t = useTexts(texts);
  return (
    <Card
      title={t.now}
      actions={state && <SenderStateTag sender={{ ...sender, breaker: state.breaker, report: state.report }} />}
    >
      {state ? (
        <Shown sender={sender} state={state} />
      ) : error ? (
        <Failed error={error} retry={retry} />
      ) : (
        <Rows n={3} />
      )}
    </Card>
  );
}

function Shown({ sender: s, state }: { sender: MessagingSender; state: SenderState }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const n = (x: number) => number(x, language);
  const { report: r, waiting: w, hour } = state;
  const cloud = s.provider === "whatsapp";
  const interval = seconds(s.per_recipient_interval);
  const clock = new Intl.DateTimeFormat(language, { timeStyle: "short" });
  return (
    <div className="stack" style={{ gap: 12 }}>
      <BreakerNote state={state} />
      <dl className="sender-now">
        {cloud && (
          <Fact name={t.quality} at={r.quality_at}>
            {r.quality ? <Quality rating={r.quality} /> : <span className="muted">{t.notKnown}</span>}
          </Fact>
        )}
        {cloud && (
          <Fact name={t.limit} at={r.messages_at}>
            {r.messages ? limitText(r.messages, language, t) : <span className="muted">{t.notKnown}</span>}
          </Fact>
        )}
        {r.notice && (
          <Fact name={t.notice} at={r.notice_at}>
            <span className="break">{(t as Record<string, string>)["event_" + r.notice] ?? r.notice}</span>
          </Fact>
        )}
        <Fact name={t.waiting}>
          {w.messages === 0
            ? t.waitingNone
            : w.more
              ? fill(t.waitingMore, { n: n(w.messages) })
              : fill(t.waitingN, { n: n(w.messages), due: n(w.due) })}
          {w.late_ms > 1000 && <span className="small muted">{fill(t.late, { time: span(w.late_ms, language) })}</span>}
        </Fact>
        <Fact name={fill(t.sent, { time: clock.format(new Date(state.hour_from)) })}>
          {fill(t.sentText, { sent: n(hour.sent), failed: n(hour.failed) })}
        </Fact>
        <Fact name={t.pace}>
          {s.per_second === 0 && interval === 0
            ? t.paceFree
            : fill(t.paceText, {
                n: s.per_second === 0 ? "∞" : n(s.per_second),
                time: span(interval * 1000, language),
              })}
        </Fact>
        <Fact name={t.templates}>
          <Link to="/templates">
            {fill(t.templatesText, { approved: n(state.approved_templates), n: n(state.templates) })}
          </Link>
        </Fact>
        {state.breaker.state === "closed" && <Fact name={t.breaker}>{t.breakerClosed}</Fact>}
      </dl>
    </div>
  );
}

/** Fact is something known of a sender, with the time where it may be old. */
function Fact({ name, at, children }: { name: string; at?: string | null; children: ReactNode }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {children}
        {at && (
          <span className="small muted" title={absolute(at, language)}>
            {fill(t.asOf, { ago: relative(at, language, Math.max(now, Date.parse(at))) })}
          </span>
        )}
      </dd>
    </>
  );
}

/** BreakerNote says why messages wait, since when and until when, and what to do. */
function BreakerNote({ state }: { state: SenderState }) {
  const t = useTexts(texts) as Record<string, string>;
  const language = useLanguage();
  const b = state.breaker;
  if (b.state === "closed") return null;
  const why = t["why_" + b.class] ?? t.why_fault!;
  return (
    <Note tone={b.state === "open" ? "danger" : "warn"}>
      <p>
        {b.state === "open"
          ? fill(t.breakerOpen!, { time: b.until ? absolute(b.until, language) : "?", why })
          : fill(t.breakerTrying!, { why })}{" "}
        {b.since && fill(t.breakerSince!, { time: absolute(b.since, language) })}
      </p>
      <p>
        {t["do_" + b.class] ?? t.do_fault} {t.breakerHow}
      </p>
      {b.detail && (
        <p className="small mono">
          <English>{b.detail}</English>
        </p>
      )}
    </Note>
  );
}
