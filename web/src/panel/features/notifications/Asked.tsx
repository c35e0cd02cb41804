import { useSenderName } from "../../ui/sender";
import { phone } from "../../ui/number";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get, Problem } from "../../api";
import { absolute, duration, languageName } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Card, Copy } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { time } from "../calls/format";
import { Preview } from "../templates/Preview";
import { type PageTexts, pageTexts, texts } from "./texts";
import type { Recipient, SentPage } from "./types";

const shownStates = ["sent", "delivered", "read", "failed"] as const;

/** AsShown is the message as its recipient's phone shows it. */
export function AsShown({ page: n, recipient: r }: { page: SentPage; recipient: Recipient }) {
  const senderName = useSenderName();
  const p = useTexts(pageTexts);
  const company = useCompany();
  const filled = useQuery({
    queryKey: [company.id, "notifications", n.notification_id, "filled", r.n],
    staleTime: 60_000,
    queryFn: ({ signal }) => get(`/notifications/${n.notification_id}/filled`, { n: r.n }, signal),
    retry: (times, e) => times < 2 && !(e instanceof Problem && e.status < 500),
  });
  const state = shownStates.find((s) => s === r.state);
  const at = r.times.sent_at ?? r.times.delivered_at ?? r.due_at ?? n.created_at;
  return (
    <Card title={p.preview}>
      {filled.isPending ? (
        <Skeleton height={160} />
      ) : filled.isLoadingError ? (
        <p className="muted sent-note">{p.previewNone}</p>
      ) : (
        <>
          <Preview
            components={filled.data.components}
            values={filled.data.values}
            at={at}
            state={state}
            sender={senderName(n.sender?.id)}
          />
          <p className="small muted sent-note">{filled.data.changed ? p.previewChanged : p.previewNow}</p>
        </>
      )}
    </Card>
  );
}

/** Asked is what the request said, and what it is linked with. */
export function Asked({ page: n }: { page: SentPage }) {
  const p = useTexts(pageTexts);
  const t = useTexts(texts);
  const language = useLanguage();
  const can = useCan();
  const agents = useList("agents");
  const agent = agents.data?.find((a) => a.id === n.agent_id);
  const instant = (at: string) => (
    <time dateTime={at} title={at}>
      {absolute(at, language)}
    </time>
  );
  const stood = n.timeline!.some((e) => e.event === "default_sender");
  return (
    <Card title={p.asked}>
      <dl className="sent-facts">
        {n.name_template && (
          <div>
            <dt>{p.template}</dt>
            <dd>
              {n.template_id && can("templates:read") ? (
                <Link to="/templates/$id" params={{ id: n.template_id }}>
                  {n.name_template}
                </Link>
              ) : (
                n.name_template
              )}
              <span className="muted small">
                {" "}
                {languageName((n.language_template ?? "").replace("_", "-"), language)}
              </span>
            </dd>
          </div>
        )}
        {n.agent_id && (
          <div>
            <dt>{p.agent}</dt>
            <dd>
              {agent ? (
                <Link to="/agents/$id" params={{ id: n.agent_id }}>
                  {agent.name}
                </Link>
              ) : (
                n.agent_id
              )}
            </dd>
          </div>
        )}
        <div>
          <dt>{p.campaign}</dt>
          <dd>
            <Link to="/campaigns/$name" params={{ name: n.campaign_name }}>
              {n.campaign_name}
            </Link>
          </dd>
        </div>
        <div>
          <dt>{p.type}</dt>
          <dd>{t[n.notification_type]}</dd>
        </div>
        <div>
          <dt>{p.sender}</dt>
          <dd>
            {n.sender ? (
              <>
                {n.sender.id}{" "}
                <span className="muted small">
                  {phone(n.sender.number)}
                  {stood && `, ${p.senderDefault}`}
                </span>
              </>
            ) : (
              n.recipient_id
            )}
          </dd>
        </div>
        {stood && (
          <div>
            <dt>{p.reference}</dt>
            <dd>{n.recipient_id}</dd>
          </div>
        )}
        {n.name_event && (
          <div>
            <dt>{p.event}</dt>
            <dd>{n.name_event}</dd>
          </div>
        )}
        {n.fallback && (
          <div>
            <dt>{p.fallback}</dt>
            <dd>
              {fill(p.fallbackIs, { after: duration(n.fallback.after, language) })}{" "}
              <span className="muted small">
                {agents.data?.find((a) => a.id === n.fallback!.agent_id)?.name ?? n.fallback.agent_id}
              </span>
            </dd>
          </div>
        )}
        <div>
          <dt>{p.acceptedAt}</dt>
          <dd>{instant(n.created_at)}</dd>
        </div>
        {n.scheduled_time && (
          <div>
            <dt>{p.scheduled}</dt>
            <dd>{instant(n.scheduled_time)}</dd>
          </div>
        )}
        <div className="sent-id">
          <dt>{p.id}</dt>
          <dd>
            <code>{n.notification_id}</code>
            <Copy value={n.notification_id} label={p.copyId} />
          </dd>
        </div>
      </dl>
      <Links page={n} p={p} />
    </Card>
  );
}

/** Links are the runs of flows and the other notifications that belong to one. */
function Links({ page: n, p }: { page: SentPage; p: PageTexts }) {
  const can = useCan();
  const language = useLanguage();
  return (
    <>
      {n.resend_of && (
        <p className="sent-links small">
          {p.resendOf}{" "}
          <Link to="/notifications/$id" params={{ id: n.resend_of }}>
            {p.original}
          </Link>
        </p>
      )}
      {(n.resent_as ?? []).length > 0 && (
        <p className="sent-links small">
          {p.resentAs}{" "}
          {n.resent_as!.map((id, i) => (
            <span key={id}>
              {i > 0 && ", "}
              <Link to="/notifications/$id" params={{ id }}>
                {id.slice(0, 8)}…{id.slice(-4)}
              </Link>
            </span>
          ))}
        </p>
      )}
      {n.runs.length > 0 && can("conversations:read") && (
        <>
          <h3 className="small muted sent-sub">{p.flows}</h3>
          <ul className="sent-runs">
            {n.runs.map((r) => (
              <li key={r.id}>
                <Link to="/flows/runs/$id" params={{ id: r.id }}>
                  {r.flow}
                </Link>
                <span className="small muted">
                  {r.name || phone(r.number)} · {time(r.started_at, language)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Whole is what happened to the notification as a whole. */
export function Whole({ page: n }: { page: SentPage }) {
  const p = useTexts(pageTexts);
  const language = useLanguage();
  const words = (e: NonNullable<SentPage["timeline"]>[number]) => {
    const known = (p as Record<string, string>)["ev_" + e.event];
    const at = e.until ?? n.scheduled_time;
    const ahead = new Intl.NumberFormat(language).format(e.ahead ?? 0);
    return known ? fill(known, { time: at ? time(at, language) : "", n: ahead }) : e.text;
  };
  return (
    <Card title={p.whole}>
      <ol className="sent-timeline">
        {n.timeline!.map((e, i) => (
          <li key={i}>
            <span>{words(e)}</span>
            <time className="small muted nowrap" dateTime={e.at} title={absolute(e.at, language)}>
              {time(e.at, language, true)}
            </time>
          </li>
        ))}
      </ol>
    </Card>
  );
}
