import { Button, CopyButton, Drawer, Skeleton } from "@mantine/core";
import { IconCheck, IconTerminal2 } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Problem } from "../../api";
import { absolute, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Copy, Empty, Failed, Note, Tag } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { codeTexts, texts } from "./texts";
import { curlOf } from "./curl";
import type { ApiCallPage, Code } from "./types";
import { useCall } from "./useActivity";

/** CallDrawer shows a call that was refused or failed, with why and what to do. */
export function CallDrawer({ id, close }: { id?: string; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const call = useCall(id);
  const gone = call.error instanceof Problem && call.error.status === 404;
  return (
    <Drawer
      opened={!!id}
      onClose={close}
      position="right"
      size={640}
      title={t.theCall}
      closeButtonProps={{ "aria-label": s.close }}
    >
      {call.data ? (
        <Whole call={call.data} />
      ) : gone ? (
        <Empty icon={<IconTerminal2 size={22} />} title={t.gone} text={t.goneText} />
      ) : call.isError ? (
        <Failed error={call.error} retry={() => void call.refetch()} />
      ) : (
        <Skeleton height={240} />
      )}
    </Drawer>
  );
}

function Whole({ call: c }: { call: ApiCallPage }) {
  const t = useTexts(texts);
  const words = useTexts(codeTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const curl = curlOf(location.origin, c);
  const code = c.code as Code;
  return (
    <div className="activity-whole">
      <div className="activity-head">
        <Tag tone={c.status >= 500 ? "danger" : "warn"}>{c.status}</Tag>
        <code>
          {c.method} {c.path}
        </code>
      </div>
      {words[code] && (
        <dl className="activity-reason">
          <dt>{t.why}</dt>
          <dd>{words[code]}</dd>
          <dt>{t.fix}</dt>
          <dd>
            {words[`${code}_fix`]}{" "}
            <a href="/docs/reference/errors" target="_blank" rel="noopener">
              {t.errors}
            </a>
          </dd>
        </dl>
      )}
      {c.repeats > 0 && <Note>{fill(t.repeatsText, { n: number(c.repeats, language) })}</Note>}
      <dl className="activity-facts">
        <Fact name={t.when}>{absolute(c.at, language)}</Fact>
        <Fact name={t.code}>
          <code>{c.code}</code>
        </Fact>
        <Fact name={t.request}>
          <code>{c.request_id}</code>
          <Copy value={c.request_id} label={`${s.copy}: ${t.request}`} />
        </Fact>
        <Fact name={t.key}>{c.key.label || t.keyGone}</Fact>
        <Fact name={t.took}>{number(Math.max(1, Math.round(c.took_ms)), language)} ms</Fact>
        <Fact name={t.address}>{c.address}</Fact>
        {c.agent && <Fact name={t.agent}>{c.agent}</Fact>}
        {c.query && (
          <Fact name={t.query}>
            <code>{c.query}</code>
          </Fact>
        )}
        {c.content_type && (
          <Fact name={t.contentType}>
            <code>{c.content_type}</code>
          </Fact>
        )}
        {c.idempotency_key && (
          <Fact name={t.idempotency}>
            <code>{c.idempotency_key}</code>
          </Fact>
        )}
      </dl>
      <section aria-label={t.theRequest}>
        <header>
          <h3>{t.theRequest}</h3>
          {curl && (
            <CopyButton value={curl} timeout={1500}>
              {({ copied, copy }) => (
                <Button
                  size="xs"
                  variant="default"
                  onClick={copy}
                  leftSection={copied ? <IconCheck size={14} /> : <IconTerminal2 size={14} />}
                >
                  {copied ? s.copied : t.curl}
                </Button>
              )}
            </CopyButton>
          )}
        </header>
        {c.body ? (
          <Text text={c.body} label={t.theRequest} />
        ) : (
          <p className="small muted">
            {c.body_read || c.method === "GET" || c.method === "DELETE" ? t.noBody : t.notRead}
          </p>
        )}
        <p className="small muted">
          {c.body_cut && <>{t.cut} </>}
          {t.redactedText}
          {curl && <> {t.curlText}</>}
        </p>
      </section>
      <section aria-label={t.theResponse}>
        <header>
          <h3>{t.theResponse}</h3>
        </header>
        <Text text={c.response} label={t.theResponse} />
        {c.response_cut && <p className="small muted">{t.cut}</p>}
      </section>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Text is a body, in lines where it is JSON. */
function Text({ text, label }: { text: string; label: string }) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    /* as it came */
  }
  return (
    <pre className="activity-body" tabIndex={0} aria-label={label}>
      {shown}
    </pre>
  );
}
