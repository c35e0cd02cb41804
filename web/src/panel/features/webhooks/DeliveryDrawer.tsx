import { Button, CopyButton, Drawer, Tooltip } from "@mantine/core";
import { IconRepeat, IconTerminal2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Note, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Exchange, Outcome } from "./Exchange";
import { pageTexts } from "./texts";
import { curlOf } from "./request";
import type { Attempt, Webhook } from "./types";
import { useChanges, useEvent } from "./useWebhooks";

/** DeliveryDrawer shows one delivery. It keeps what it shows while it closes, and when newer ones push the row out of the list. */
export function DeliveryDrawer({
  webhook,
  attempt,
  close,
}: {
  webhook: Webhook;
  attempt: Attempt | undefined;
  close: () => void;
}) {
  const t = useTexts(pageTexts);
  const s = useTexts(shared);
  const last = useRef(attempt);
  useEffect(() => {
    if (attempt) last.current = attempt;
  }, [attempt]);
  const shown = attempt ?? last.current;
  return (
    <Drawer
      opened={!!attempt}
      onClose={close}
      position="right"
      size={620}
      title={shown?.type ?? t.delivery}
      closeButtonProps={{ "aria-label": s.close }}
    >
      {shown && <Delivery key={shown.id} webhook={webhook} attempt={shown} />}
    </Drawer>
  );
}

function Delivery({ webhook: w, attempt: a }: { webhook: Webhook; attempt: Attempt }) {
  const t = useTexts(pageTexts);
  const language = useLanguage();
  const can = useCan()("webhooks:write");
  const { replay } = useChanges();
  const [busy, setBusy] = useState(false);
  const test = a.event_id.startsWith("evt_test_");
  const event = useEvent(test ? "" : a.event_id);
  const again = async () => {
    setBusy(true);
    try {
      await replay(w.id!, { event_id: a.event_id });
      succeeded(t.replayedOne);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="stack">
      <div className="hook-facts">
        <Tag tone={a.succeeded ? "ok" : "danger"}>{a.succeeded ? t.ok : t.bad}</Tag>
        <span className="hook-said">
          <Outcome attempt={a} />
        </span>
        <span className="muted">
          {fill(t.attemptN, { n: a.attempt })} · {absolute(a.at, language)}
        </span>
      </div>
      <div className="hook-buttons">
        {can && !test && !event.isError && (
          <Button
            variant="default"
            size="compact-md"
            leftSection={<IconRepeat size={15} />}
            loading={busy}
            onClick={() => void again()}
          >
            {t.replayOne}
          </Button>
        )}
        <CopyButton value={curlOf(w, a)} timeout={1500}>
          {({ copied, copy }) => (
            <Tooltip label={t.curlHelp}>
              <Button variant="default" size="compact-md" leftSection={<IconTerminal2 size={15} />} onClick={copy}>
                {copied ? t.curlCopied : t.curl}
              </Button>
            </Tooltip>
          )}
        </CopyButton>
      </div>
      {test && (
        <Note>
          <p>{t.didTest}</p>
        </Note>
      )}
      {event.isError && (
        <Note>
          <p>{t.gone}</p>
        </Note>
      )}
      {event.data && <About data={event.data.data} />}
      <Exchange webhook={w} attempt={a} />
      {event.data && event.data.deliveries.length > 1 && (
        <section className="hook-part" aria-label={t.all}>
          <h3>{t.all}</h3>
          <ul className="hook-all">
            {event.data.deliveries.map((d) => (
              <li key={d.id}>
                <Tag tone={d.succeeded ? "ok" : "danger"}>{d.succeeded ? t.ok : t.bad}</Tag>
                <Outcome attempt={d} />
                <span className="muted">
                  {fill(t.attemptN, { n: d.attempt })} · {absolute(d.at, language)}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** About leads to what the event is about. */
function About({ data }: { data: Record<string, unknown> }) {
  const t = useTexts(pageTexts);
  const can = useCan();
  const text = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  const call = text("call_id"),
    notification = text("notification_id"),
    conversation = text("conversation_id");
  if (call && can("notifications:read"))
    return (
      <Link to="/calls/$id" params={{ id: call }}>
        {t.toCall}
      </Link>
    );
  if (notification && can("notifications:read"))
    return (
      <Link to="/notifications/$id" params={{ id: notification }}>
        {t.toNotification}
      </Link>
    );
  if (conversation && can("conversations:read"))
    return (
      <Link to="/inbox" search={{ c: conversation }}>
        {t.toConversation}
      </Link>
    );
  return null;
}
