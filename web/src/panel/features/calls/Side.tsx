import { phone } from "../../ui/number";
import { IconCheck, IconMinus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { absolute } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { Card, Copy } from "../../ui/parts";
import { found } from "./format";
import { useNames } from "./names";
import { answererText } from "./State";
import { pageTexts, texts } from "./texts";
import { underWay, type Call, type Found } from "./types";

interface Field {
  name: string;
  question?: string;
}

/** Results is what the agent was to find out, and what it did. */
export function Results({ call: c }: { call: Call }) {
  const p = useTexts(pageTexts);
  const language = useLanguage();
  const agent = useNames().agent(c.agent_id);
  const declared = (agent?.result ?? []) as Field[];
  const values: Record<string, Found> = { ...c.review?.result, ...c.result };
  if ((c.direction === "incoming" || !c.answered_at) && Object.keys(values).length === 0) return null; // nobody was asked anything
  const fields = [
    ...declared,
    ...Object.keys(values)
      .filter((n) => !declared.some((f) => f.name === n))
      .map((name): Field => ({ name })),
  ];
  return (
    <Card title={p.result}>
      {fields.length === 0 ? (
        <p className="muted calls-none">{p.noResult}</p>
      ) : (
        <dl className="calls-results">
          {fields.map((f) => (
            <div key={f.name}>
              <dt title={f.question}>{f.name}</dt>
              <dd>
                {f.name in values ? (
                  <>
                    <IconCheck size={15} className="calls-ok" aria-hidden="true" />
                    {found(values[f.name]!, language, p)}
                  </>
                ) : (
                  <span className="muted">
                    <IconMinus size={15} aria-hidden="true" />
                    {underWay(c.state) ? "…" : p.notFound}
                  </span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}

/** Details is what else is known of a call. */
export function Details({ call: c }: { call: Call }) {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const language = useLanguage();
  const { agent, line } = useNames();
  const a = agent(c.agent_id);
  const l = line(c.line_id);
  return (
    <Card title={p.details}>
      <dl className="calls-details">
        <dt>{t.agent}</dt>
        <dd>
          {a ? (
            <Link to="/agents/$id" params={{ id: a.id }}>
              {a.name}
            </Link>
          ) : (
            <span className="muted">{t.deleted}</span>
          )}
        </dd>
        <dt>{t.line}</dt>
        <dd>
          {l ? (
            <Link to="/lines/$id" params={{ id: l.id }}>
              {l.id}
            </Link>
          ) : (
            <span className="muted">{c.line_id ?? t.deleted}</span>
          )}
          {l && <span className="small muted"> {phone(l.number)}</span>}
        </dd>
        {c.campaign_name && (
          <>
            <dt>{t.campaign}</dt>
            <dd>{c.campaign_name}</dd>
          </>
        )}
        {c.notification_id && c.notification_id !== c.call_id && (
          <>
            <dt>{p.follows}</dt>
            <dd>
              <Link to="/notifications/$id" params={{ id: c.notification_id }}>
                {p.followsMessage}
              </Link>
            </dd>
          </>
        )}
        {c.direction === "outgoing" && (
          <>
            <dt>{p.attempts}</dt>
            <dd>{c.attempts}</dd>
          </>
        )}
        {c.answered_by && (
          <>
            <dt>{p.answeredBy}</dt>
            <dd>{answererText(t, c.answered_by)}</dd>
          </>
        )}
        {c.ended_by && (
          <>
            <dt>{p.endedBy}</dt>
            <dd>{t[`by_${c.ended_by}` as "by_agent"] ?? c.ended_by}</dd>
          </>
        )}
        {c.no_recording && (
          <>
            <dt>{p.recording}</dt>
            <dd>{c.no_recording === "refused" ? p.recordingRefused : p.recordingExpired}</dd>
          </>
        )}
        {c.cause && (
          <>
            <dt>{p.cause}</dt>
            <dd>{c.cause}</dd>
          </>
        )}
        <dt>{c.direction === "incoming" ? p.received : p.placed}</dt>
        <dd>{absolute(c.created_at, language)}</dd>
        <dt>{p.id}</dt>
        <dd className="calls-id">
          <code>{c.call_id}</code>
          <Copy value={c.call_id} label={p.copyId} />
        </dd>
      </dl>
    </Card>
  );
}
