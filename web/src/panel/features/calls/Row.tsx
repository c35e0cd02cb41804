import { phone } from "../../ui/number";
import { IconMicrophone } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useLanguage, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { shared } from "../../ui/texts";
import { clock, found, time } from "./format";
import type { Names } from "./names";
import { pageTexts, reasonText, texts } from "./texts";
import { Answered, State } from "./State";
import { Ticking } from "./Ticking";
import { underWay, waits, type CallRow } from "./types";

/** Row is a call in the list; all of it leads to the call's page. */
export function Row({ call: c, names }: { call: CallRow; names: Names }) {
  const t = useTexts(texts);
  const a = names.agent(c.agent_id);
  const why = reasonText(t, c.reason);
  return (
    <tr data-id={c.call_id} data-live={underWay(c.state) ? "yes" : undefined}>
      <td>
        <State state={c.state} />
        {why && <span className="calls-why small muted">{why}</span>}
      </td>
      <td>
        <Link className="row-title calls-link" to="/calls/$id" params={{ id: c.call_id }}>
          {c.name || phone(c.number) || t.hidden}
        </Link>
        {c.name && <span className="calls-second small muted">{phone(c.number)}</span>}
        <span className="calls-second small muted phone-only">
          <When call={c} />
        </span>
      </td>
      <td className="wide-only">
        {a ? a.name : <span className="muted">{t.deleted}</span>}
        <span className="calls-second small muted cut">{c.line_id ?? t.deleted}</span>
      </td>
      {c.direction === "outgoing" && (
        <td className="wide-only calls-roomy">
          <span className="calls-campaign cut" title={c.campaign_name}>
            {c.campaign_name || <span className="muted">–</span>}
          </span>
        </td>
      )}
      <td className="wide-only">
        <When call={c} />
      </td>
      <td className="nowrap">
        {underWay(c.state) && c.answered_at ? (
          <Ticking since={c.answered_at} />
        ) : c.duration_s !== undefined ? (
          clock(c.duration_s)
        ) : (
          <span className="muted">–</span>
        )}
        <span className="calls-second small muted">
          <Answered by={c.answered_by} />
        </span>
      </td>
      <td className="wide-only">
        <Summary call={c} />
      </td>
      <td className="wide-only">
        {c.has_recording && (
          <IconMicrophone size={16} stroke={1.8} role="img" aria-label={t.recorded} className="muted" />
        )}
      </td>
    </tr>
  );
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

/** Summary is what the agent found out, in short. */
function Summary({ call: c }: { call: CallRow }) {
  const p = useTexts(pageTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const all = Object.entries(c.result ?? {});
  if (all.length === 0) return <span className="muted">–</span>;
  return (
    <span className="calls-summary">
      {all.slice(0, 2).map(([name, v]) => (
        <span key={name} className="cut">
          <span className="muted">{name}</span> {found(v, language, p)}
        </span>
      ))}
      {all.length > 2 && (
        <span className="muted small" title={s.more}>
          +{all.length - 2}
        </span>
      )}
    </span>
  );
}
