import { IconMicrophone } from "@tabler/icons-react";
import { useLanguage, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { phone } from "../../ui/number";
import { clock, found, time } from "./format";
import { useNames } from "./names";
import { Answered, State } from "./State";
import { pageTexts, reasonText, texts } from "./texts";
import { Ticking } from "./Ticking";
import { underWay, waits, type CallRow } from "./types";

/** useColumns are what the list shows of a call, and what a row is called. */
export function useColumns(incoming: boolean) {
  const t = useTexts(texts);
  const names = useNames();
  const name = (c: CallRow) => c.name || phone(c.number) || t.hidden;
  const columns: Column<CallRow>[] = [
    {
      id: "state",
      label: t.state,
      width: 140,
      cell: (c) => {
        const why = reasonText(t, c.reason);
        return (
          <span title={why || undefined}>
            <State state={c.state} />
          </span>
        );
      },
    },
    { id: "contact", label: t.contact, fixed: true, cell: (c) => <span className="cut">{name(c)}</span> },
    {
      id: "number",
      label: t.number,
      width: 150,
      from: "tablet",
      cell: (c) => phone(c.number) || <span className="muted">{t.hidden}</span>,
    },
    {
      id: "agent",
      label: t.agent,
      from: "tablet",
      cell: (c) => {
        const a = names.agent(c.agent_id);
        return a ? <span title={a.name}>{a.name}</span> : <span className="muted">{t.deleted}</span>;
      },
    },
    {
      id: "line",
      label: t.line,
      from: "wide",
      cell: (c) => (
        <span className="small muted" title={c.line_id}>
          {c.line_id ?? t.deleted}
        </span>
      ),
    },
    ...(incoming
      ? []
      : [
          {
            id: "campaign",
            label: t.campaign,
            from: "desktop" as const,
            cell: (c: CallRow) =>
              c.campaign_name ? (
                <span title={c.campaign_name}>{c.campaign_name}</span>
              ) : (
                <span className="muted">–</span>
              ),
          },
        ]),
    { id: "when", label: t.when, width: 112, from: "tablet", cell: (c) => <When call={c} /> },
    {
      id: "duration",
      label: t.duration,
      width: 130,
      from: "tablet",
      cell: (c) => (
        <>
          <Lasted call={c} />{" "}
          <span className="small muted">
            <Answered by={c.answered_by} />
          </span>
        </>
      ),
    },
    { id: "result", label: t.result, width: "18%", from: "tablet", cell: (c) => <Summary call={c} /> },
    {
      id: "recording",
      label: t.recording,
      head: <span className="hidden">{t.recording}</span>,
      width: 44,
      from: "tablet",
      icon: true,
      cell: (c) =>
        c.has_recording && (
          <IconMicrophone size={16} stroke={1.8} role="img" aria-label={t.recorded} className="muted" />
        ),
    },
  ];
  return {
    columns,
    name,
    under: (c: CallRow) => (
      <>
        <When call={c} /> · <Lasted call={c} />
      </>
    ),
  };
}

/** Lasted is how long a call lasted, or lasts. */
function Lasted({ call: c }: { call: CallRow }) {
  if (underWay(c.state) && c.answered_at) return <Ticking since={c.answered_at} />;
  return c.duration_s === undefined ? <span className="muted">–</span> : <>{clock(c.duration_s)}</>;
}

/** When is when a call was dialed last, or will be. */
function When({ call: c }: { call: CallRow }) {
  const language = useLanguage();
  if (waits(c.state) && c.due_at && Date.parse(c.due_at) > Date.now())
    return (
      <time dateTime={c.due_at} className="nowrap">
        {time(c.due_at, language)}
      </time>
    );
  return <Ago at={c.dialed_at || c.ended_at || c.created_at} />;
}

/** Summary is what the agent asked and was told. */
function Summary({ call: c }: { call: CallRow }) {
  const p = useTexts(pageTexts);
  const language = useLanguage();
  const all = Object.entries(c.result ?? {});
  if (all.length === 0) return <span className="muted">–</span>;
  const words = all.map(([name, v]) => `${name}: ${found(v, language, p)}`).join(" · ");
  return <span title={words}>{words}</span>;
}
