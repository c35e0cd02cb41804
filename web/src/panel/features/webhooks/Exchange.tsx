import { number } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { Copy } from "../../ui/parts";
import { Told } from "../../ui/Told";
import { pageTexts } from "./texts";
import { pretty, timestampOf, whole } from "./request";
import type { Attempt, Webhook } from "./types";
import "./webhooks.css";

/** Outcome is what came back, and after how long. */
export function Outcome({ attempt: a }: { attempt: Attempt }) {
  const t = useTexts(pageTexts);
  const language = useLanguage();
  return (
    <>
      {a.status ? a.status : t.noResponse}
      {a.error && !(a.status && a.error === `It responded ${a.status}`) && (
        <>
          : <Told text={a.error} />
        </>
      )}{" "}
      · {number(a.duration_ms, language)} ms
    </>
  );
}

/** Exchange is a request with its headers explained, and the response. */
export function Exchange({ webhook: w, attempt: a }: { webhook: Webhook; attempt: Attempt }) {
  const t = useTexts(pageTexts);
  return (
    <>
      <section className="hook-part" aria-label={t.request}>
        <Code title={t.request} text={a.request} label={t.body} />
        {!whole(a) && (
          <p className="small muted" style={{ margin: 0 }}>
            {t.cut}
          </p>
        )}
        <dl className="hook-sent-headers">
          <Sent name={"webhook-id: " + a.event_id} why={t.headerId} />
          <Sent name={"webhook-timestamp: " + timestampOf(a)} why={t.headerAt} />
          <Sent name="webhook-signature: v1,…" why={t.headerSigned} />
          {w.headers?.map((h) => (
            <Sent key={h.name} name={h.name} why={t.headerOwn} />
          ))}
        </dl>
      </section>
      <section className="hook-part" aria-label={t.response}>
        {a.response ? (
          <Code title={t.response} text={a.response} label={t.response} />
        ) : (
          <>
            <h3>{t.response}</h3>
            <p className="muted" style={{ margin: 0 }}>
              {a.status ? t.noBody : a.error ? <Told text={a.error} /> : t.noResponse}
            </p>
          </>
        )}
      </section>
    </>
  );
}

function Sent({ name, why }: { name: string; why: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="small muted">{why}</dd>
    </div>
  );
}

function Code({ title, text, label }: { title: string; text: string; label: string }) {
  return (
    <div>
      <div className="hook-code-head">
        <h3>{title}</h3>
        <Copy value={text} />
      </div>
      <pre className="hook-code" tabIndex={0} aria-label={label}>
        {pretty(text)}
      </pre>
    </div>
  );
}
