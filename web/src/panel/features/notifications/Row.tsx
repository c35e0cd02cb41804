import { phone } from "../../ui/number";
import { IconPhone } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { reasonText } from "./reasons";
import { Bar, Outcome } from "./State";
import { texts } from "./texts";
import type { Sent } from "./types";

/** nameOf is what a notification is called: its template, or the agent's call. */
export function nameOf(n: Sent, call: string): string {
  return n.name_template || call;
}

/** Row is a notification in the list; all of it leads to its page. */
export function Row({ sent: n, agent }: { sent: Sent; agent: (id: string | undefined) => string }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const who = n.total === 1 ? phone(n.number) : fill(t.many, { n: number(n.total, language) });
  const when = <Ago at={n.created_at} />;
  return (
    <tr data-id={n.notification_id}>
      <td>
        <Outcome of={n} />
      </td>
      <td className="sent-what">
        <Link className="row-title sent-link" to="/notifications/$id" params={{ id: n.notification_id }}>
          {n.channel === "voice" && <IconPhone size={14} stroke={1.8} role="img" aria-label={t.call} />}
          <span className="cut">{n.channel === "voice" ? agent(n.agent_id) : n.name_template}</span>
        </Link>
        <span className="sent-second small muted cut" title={n.campaign_name}>
          {n.campaign_name}
          {n.language_template && ` · ${n.language_template}`}
        </span>
        <span className="sent-second small muted phone-only">
          {who} · {n.state === "scheduled" ? <Outcome of={n} /> : when}
        </span>
      </td>
      <td className="wide-only nowrap">{who}</td>
      <td className="sent-cell">
        <Bar counts={n.counts}>
          {n.total === 1 && n.reason && n.reason !== "canceled" && <>: {reasonText(n.reason)}</>}
        </Bar>
      </td>
      <td className="wide-only sent-roomy">
        <span className="sent-second small muted cut">{n.sender?.id ?? n.recipient_id}</span>
      </td>
      <td className="wide-only">{when}</td>
    </tr>
  );
}
