import "../notifications/notifications.css";
import { Button } from "@mantine/core";
import { IconDeviceMobile, IconSend } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { fill, useTexts } from "../../i18n";
import { Failed, Rows } from "../../ui/parts";
import { phone } from "../../ui/number";
import { useSenderName } from "../../ui/sender";
import { MessageCard, Steps, Why } from "../notifications/MessageCard";
import { Recipients } from "../notifications/Recipients";
import { Outcome } from "../notifications/State";
import { useOne } from "../notifications/useOne";
import { Preview } from "../templates/Preview";
import { texts } from "./texts";
import type { Template } from "./types";

const ticks = ["sent", "delivered", "read", "failed"] as const;

/** SentResult is what has become of a message that was just sent, as it happens. */
export function SentResult({
  id,
  template,
  values,
  again,
}: {
  id: string;
  template: Template;
  values: Record<string, string | undefined>;
  again: () => void;
}) {
  const t = useTexts(texts);
  const senderName = useSenderName();
  const one = useOne(id);
  const [shown, show] = useState<{ m?: number }>({});
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  const n = one.data;
  const recipient = n?.recipients.find((r) => r.n === shown.m) ?? n?.recipients[0];
  const many = (n?.total ?? 1) > 1;
  return (
    <div className="send-split">
      <div className="stack">
        <section className="card send-sent" aria-label={t.result}>
          <div className="body">
            <div className="send-sent-head">
              <h2 ref={head} tabIndex={-1}>
                {many
                  ? fill(t.sentToMany, { n: n!.total })
                  : recipient
                    ? fill(t.sentTo, { number: phone(recipient.number) })
                    : t.isSent}
              </h2>
              <span role="status">{n && <Outcome of={n} />}</span>
            </div>
            <div className="send-actions">
              <Button leftSection={<IconSend size={16} />} onClick={again}>
                {t.another}
              </Button>
              <Button
                variant="default"
                renderRoot={(props) => <Link to="/notifications/$id" params={{ id }} {...props} />}
              >
                {t.openMessage}
              </Button>
              {template.provider === "sandbox" && recipient && (
                <Button
                  variant="default"
                  leftSection={<IconDeviceMobile size={16} />}
                  renderRoot={(props) => (
                    <Link
                      to="/sandbox/messages"
                      search={{ sender: template.sender, number: recipient.number }}
                      {...props}
                    />
                  )}
                >
                  {t.openPhone}
                </Button>
              )}
            </div>
            {/* Below the buttons, which stay where they are while it grows. */}
            {!many && n && recipient && (
              <>
                <Why recipient={recipient} page={n} />
                <Steps recipient={recipient} page={n} />
              </>
            )}
          </div>
        </section>
        {one.isLoadingError ? (
          <Failed error={one.error} retry={() => void one.refetch()} />
        ) : !n ? (
          <Rows n={2} />
        ) : many ? (
          <>
            <Recipients page={n} address={{}} shown={recipient} go={(to) => to.m !== undefined && show({ m: to.m })} />
            {recipient && <MessageCard recipient={recipient} page={n} />}
          </>
        ) : null}
      </div>
      <aside className="send-preview" aria-label={t.preview}>
        <Preview
          components={template.components}
          values={values}
          state={ticks.find((s) => s === recipient?.state)}
          sender={senderName(template.sender)}
        />
      </aside>
    </div>
  );
}
