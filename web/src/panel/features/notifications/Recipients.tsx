import { addressee } from "../../ui/number";
import { number } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { List, type Column } from "../../ui/list/List";
import type { Chosen } from "./chosen";
import { pageTexts, stateText, texts } from "./texts";
import { explained } from "./reasons";
import { Bar, inOrder, State } from "./State";
import type { MessageState, Recipient, SentPage } from "./types";

/** Recipients are those of a notification; a click on one shows its message. */
export function Recipients({
  page: n,
  address,
  shown,
  go,
}: {
  page: SentPage;
  address: Chosen;
  shown?: Recipient;
  go: (to: Chosen) => void;
}) {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const language = useLanguage();
  const among = address.state ? n.recipients.filter((r) => r.state === address.state) : n.recipients;
  const states = inOrder(n.counts);
  const why = (r: Recipient) =>
    r.state === "failed" || r.state === "skipped" ? explained(r.reason, r.detail, n.channel)?.why : undefined;
  const columns: Column<Recipient>[] = [
    {
      id: "who",
      label: t.number,
      fixed: true,
      by: (r) => r.name || addressee(r),
      cell: (r) => (
        <>
          <span className="cut">{r.name || addressee(r)}</span>
          {r.name && <span className="small muted nowrap wide-only">{addressee(r)}</span>}
        </>
      ),
    },
    {
      id: "state",
      label: t.state,
      width: 150,
      by: (r) => stateText(t, r.state),
      cell: (r) => <State state={r.state} />,
    },
    {
      id: "why",
      label: p.why,
      width: "36%",
      from: "desktop",
      cell: (r) =>
        why(r) ? (
          <span className="small muted" title={why(r)}>
            {why(r)}
          </span>
        ) : null,
    },
  ];
  return (
    <List
      label={p.recipients}
      columns={columns}
      rows={among}
      id={idOf}
      name={(r) => r.name || addressee(r)}
      current={shown && idOf(shown)}
      under={(r) => why(r) ?? (r.name && addressee(r))}
      target={(r) => ({ open: () => go({ ...address, m: r.n }) })}
      head={
        <>
          <div className="sent-sum">
            <Bar counts={n.counts} />
          </div>
          <header className="sent-states">
            <h2>{p.recipients}</h2>
            <div role="group" aria-label={t.state}>
              <button
                type="button"
                aria-pressed={!address.state}
                onClick={() => go({ state: undefined, m: undefined })}
              >
                {p.all} <span className="muted">{number(n.total, language)}</span>
              </button>
              {states.map(([s, count]) => (
                <button
                  key={s}
                  type="button"
                  aria-pressed={address.state === s}
                  onClick={() => go({ state: s as MessageState, m: undefined })}
                >
                  <i data-state={s} aria-hidden="true" />
                  {stateText(t, s)} <span className="muted">{number(count, language)}</span>
                </button>
              ))}
            </div>
          </header>
          {among.length === 0 && <p className="muted sent-none">{p.noneInState}</p>}
        </>
      }
    />
  );
}

const idOf = (r: Recipient) => String(r.n);
