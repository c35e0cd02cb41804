import { IconPhone } from "@tabler/icons-react";
import { languageName, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { addressee } from "../../ui/number";
import { useList } from "../../ui/resources";
import { reasonText } from "./reasons";
import { Bar, Outcome } from "./State";
import { texts } from "./texts";
import type { Sent } from "./types";

/** useColumns are what the list shows of a notification, and what a row is called. */
export function useColumns() {
  const t = useTexts(texts);
  const language = useLanguage();
  const agents = useList("agents");
  const title = (n: Sent) =>
    n.channel === "voice" ? (agents.data?.find((a) => a.id === n.agent_id)?.name ?? t.call) : (n.name_template ?? "");
  const who = (n: Sent) => (n.total === 1 ? n.name || addressee(n) : fill(t.many, { n: number(n.total, language) }));
  const columns: Column<Sent>[] = [
    { id: "state", label: t.state, width: 164, cell: (n) => <Outcome of={n} /> },
    {
      id: "what",
      label: t.what,
      fixed: true,
      cell: (n) => (
        <>
          {n.channel === "voice" && <IconPhone size={14} stroke={1.8} role="img" aria-label={t.call} />}
          <span className="cut">{title(n)}</span>
          {n.language_template && (
            <span className="small muted cut wide-only sent-language">
              {languageName(n.language_template.replace("_", "-"), language)}
            </span>
          )}
        </>
      ),
    },
    {
      id: "campaign",
      label: t.campaign,
      from: "wide",
      cell: (n) => <span title={n.campaign_name}>{n.campaign_name}</span>,
    },
    { id: "who", label: t.recipients, width: 154, from: "tablet", cell: (n) => who(n) },
    {
      id: "result",
      label: t.result,
      width: "20%",
      from: "tablet",
      cell: (n) => (n.total > 1 ? <Bar counts={n.counts} /> : <Reason of={n} />),
    },
    {
      id: "sender",
      label: t.sender,
      width: 92,
      from: "wide",
      cell: (n) => {
        const id = n.sender?.id ?? n.recipient_id;
        return (
          <span className="small muted" title={id}>
            {id}
          </span>
        );
      },
    },
    { id: "when", label: t.when, width: 128, from: "tablet", cell: (n) => <Ago at={n.created_at} /> },
  ];
  return {
    columns,
    name: (n: Sent) => [title(n), who(n)].filter(Boolean).join(", "),
    under: (n: Sent) => (
      <>
        {who(n)} · <Ago at={n.created_at} />
      </>
    ),
  };
}

/** Reason is why the only recipient of a notification got nothing. */
function Reason({ of: n }: { of: Sent }) {
  if (!n.reason || n.reason === "canceled") return <span className="muted">–</span>;
  const text = reasonText(n.reason, n.channel);
  return (
    <span className="small muted" title={text}>
      {text}
    </span>
  );
}
