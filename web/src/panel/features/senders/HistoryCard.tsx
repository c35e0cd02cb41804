import { Button, Progress } from "@mantine/core";
import "@mantine/core/styles/Progress.css";
import { type ReactNode, useState } from "react";
import { number, relative } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { useNow } from "../../ui/Ago";
import { Card, Note } from "../../ui/parts";
import { succeeded, why } from "../../ui/problem";
import { refusal } from "./RegisterCard";
import { checkTexts, historyTexts } from "./texts";
import type { SenderState } from "./types";
import { useSenderChanges } from "./useSenders";

/** HistoryCard imports what a number was used for in the WhatsApp Business app before it was connected. */
export function HistoryCard({ id, state }: { id: string; state: SenderState | undefined }) {
  const t = useTexts(historyTexts);
  const c = useTexts(checkTexts) as Record<string, string>;
  const can = useCan()("senders:write");
  const { askHistory } = useSenderChanges();
  const [busy, setBusy] = useState<"history" | "contacts">();
  const [error, setError] = useState<ReactNode>();
  const coexists = state?.report.findings?.some((f) => f.code === "coexistence");
  const h = state?.history;
  if (!coexists && !h) return null;
  const ask = async (contacts: boolean) => {
    setBusy(contacts ? "contacts" : "history");
    setError(undefined);
    try {
      await askHistory(id, contacts);
      succeeded(t.asked);
    } catch (e) {
      setError(refusal(e, c) ?? why(e));
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <Card title={t.title}>
      <div className="stack" style={{ gap: 12 }}>
        <p className="muted flat">{t.about}</p>
        {h && <Imported history={h} />}
        {error && (
          <Note tone="danger">
            <p>{error}</p>
          </Note>
        )}
        {can && (!h?.asked_at || !h.contacts_asked_at) && (
          <>
            <p className="small muted flat">{t.once}</p>
            <div style={{ display: "flex", flexWrap: "wrap", gap: 8 }}>
              {!h?.contacts_asked_at && (
                <Button
                  variant="default"
                  size="compact-sm"
                  loading={busy === "contacts"}
                  onClick={() => void ask(true)}
                >
                  {t.askContacts}
                </Button>
              )}
              {!h?.asked_at && (
                <Button
                  variant="default"
                  size="compact-sm"
                  loading={busy === "history"}
                  onClick={() => void ask(false)}
                >
                  {t.askHistory}
                </Button>
              )}
            </div>
          </>
        )}
      </div>
    </Card>
  );
}

function Imported({ history: h }: { history: NonNullable<SenderState["history"]> }) {
  const t = useTexts(historyTexts);
  const language = useLanguage();
  const now = useNow();
  const n = (x: number) => number(x, language);
  const states: Record<string, string> = {
    waiting: t.waiting,
    receiving: fill(t.receiving, { percent: n(h.progress), phase: [t.phase0, t.phase1, t.phase2][h.phase] ?? "" }),
    done: t.done,
    refused: t.refused,
  };
  return (
    <div role="status">
      {h.state && <p className="flat">{states[h.state]}</p>}
      {h.state === "receiving" && <Progress value={h.progress} aria-label={t.title} my={6} />}
      <p className="small muted flat">
        {fill(t.counts, { messages: n(h.messages), conversations: n(h.conversations), names: n(h.names) })}{" "}
        {h.received_at &&
          fill(t.last, { ago: relative(h.received_at, language, Math.max(now, Date.parse(h.received_at))) })}
      </p>
    </div>
  );
}
