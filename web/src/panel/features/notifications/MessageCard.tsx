import { English } from "../../ui/English";
import { addressee } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconPhone } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Card, Copy } from "../../ui/parts";
import { time } from "../calls/format";
import { byCall, CallInstead } from "./CallInstead";
import { pageTexts, stateText, texts } from "./texts";
import { explained } from "./reasons";
import { State } from "./State";
import { stepsOf } from "./steps";
import type { Recipient, SentPage } from "./types";

/** Why is why a message did not arrive, and what to do about it. */
export function Why({ recipient: r, page }: { recipient: Recipient; page?: SentPage }) {
  const failure =
    r.state === "failed" ||
    r.state === "skipped" ||
    r.state === "canceled" ||
    (r.detail && r.state !== "read" && r.state !== "delivered")
      ? explained(r.reason, r.detail, page?.channel)
      : undefined;
  if (!failure) return null;
  return (
    <div className={`note sent-why ${r.state === "failed" ? "danger" : "warn"}`} role="note">
      <div>
        <p>
          <strong>{failure.why}</strong>
        </p>
        {failure.next && <p>{failure.next}</p>}
        {page?.channel === "messaging" && byCall(r) && <CallInstead to={r} campaign={page.campaign_name} />}
      </div>
    </div>
  );
}

/** Steps are what happened to a message, and what it waits for. */
export function Steps({ recipient: r, page: n }: { recipient: Recipient; page: SentPage }) {
  const p = useTexts(pageTexts);
  const t = useTexts(texts);
  const language = useLanguage();
  return (
    <ol className="sent-timeline">
      {stepsOf(r, n, p, (state) => stateText(t, state), language).map((s, i) => (
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
  );
}

/** MessageCard is what happened to one recipient's message, why it ended as it did and what to do about it. */
export function MessageCard({ recipient: r, page: n }: { recipient: Recipient; page: SentPage }) {
  const p = useTexts(pageTexts);
  const who = r.name || addressee(r); // the number stands below
  const call = n.channel === "voice";
  const callID = call ? n.notification_id : r.fallback?.call_id;
  return (
    <Card title={fill(p.timelineTo, { who })} actions={<State state={r.state} />}>
      <Why recipient={r} page={n} />
      {!call && <Steps recipient={r} page={n} />}
      {callID && (
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/calls/$id" params={{ id: callID }} {...props} />}
          leftSection={<IconPhone size={16} />}
        >
          {p.openCall}
        </Button>
      )}
      <dl className="sent-facts sent-ids">
        {r.detail && (
          <div>
            <dt>{p.words}</dt>
            <dd>
              <English>
                <code>{r.detail}</code>
              </English>
              <Copy value={r.detail} label={p.copyWords} />
            </dd>
          </div>
        )}
        {r.provider_id && (
          <div>
            <dt>{p.providerId}</dt>
            <dd>
              <code>{r.provider_id}</code>
              <Copy value={r.provider_id} label={p.copyProviderId} />
            </dd>
          </div>
        )}
        <div>
          <dt>{p.messageId}</dt>
          <dd>
            <code>{r.message_id}</code>
            <Copy value={r.message_id} label={p.copyMessageId} />
          </dd>
        </div>
        {!call && r.attempts > 0 && (
          <div>
            <dt>{p.attempts}</dt>
            <dd>{r.attempts}</dd>
          </div>
        )}
        <div>
          <dt>{p.number}</dt>
          <dd>
            <Link to="/notifications" search={{ number: r.number || r.user_id }} title={p.allOf}>
              {addressee(r)}
            </Link>
          </dd>
        </div>
      </dl>
    </Card>
  );
}
