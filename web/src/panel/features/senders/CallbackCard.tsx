import { relative } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useNow } from "../../ui/Ago";
import { Card, Note, Snippet } from "../../ui/parts";
import { texts } from "./texts";
import type { MessagingSender, Report } from "./types";
import { remembered } from "./verify";

/** CallbackCard is what to enter at Meta, and whether anything has come of it. typed is a verify token that is not stored yet. */
export function CallbackCard({
  sender: s,
  report,
  typed,
  waiting,
}: {
  sender: MessagingSender;
  report: Report | undefined;
  typed?: string;
  waiting?: boolean;
}) {
  const t = useTexts(texts);
  if (!s.callback) return null;
  const token = typed || remembered(s.id);
  return (
    <Card title={t.callbacks}>
      <div className="stack sender-copy" style={{ gap: 12 }}>
        <p className="muted flat">{t.callbacksAbout}</p>
        <div>
          <div className="field-label">{t.callbackUrl}</div>
          <Snippet code={s.callback.url} label={t.copyUrl} />
        </div>
        <div>
          <div className="field-label">{t.verify}</div>
          {token ? (
            <>
              <Snippet code={token} label={t.copyVerify} />
              {typed && <p className="small muted flat">{t.verifyNew}</p>}
            </>
          ) : (
            <p className="small muted flat">{t.verifyStored}</p>
          )}
        </div>
        {!s.callback.public && (
          <Note tone="warn">
            <p>{t.privateBase}</p>
          </Note>
        )}
        <Seen report={report} waiting={waiting} />
        <p className="small muted flat break">{t.otherFields}</p>
      </div>
    </Card>
  );
}

/** Seen is whether Meta has been here. */
function Seen({ report: r, waiting }: { report: Report | undefined; waiting?: boolean }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  const ago = (at: string) => relative(at, language, Math.max(now, Date.parse(at)));
  return (
    <div role="status">
      {r?.handshake_at ? (
        <p className="flat ok-text">{fill(t.handshakeDone, { ago: ago(r.handshake_at) })}</p>
      ) : (
        waiting && <p className="flat muted">{t.handshakeWait}</p>
      )}
      {r?.callback_at ? (
        <p className="flat ok-text">{fill(t.callbackLast, { ago: ago(r.callback_at) })}</p>
      ) : (
        <p className="flat muted">{t.callbackNone}</p>
      )}
    </div>
  );
}
