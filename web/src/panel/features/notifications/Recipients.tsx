import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Card } from "../../ui/parts";
import type { Chosen } from "./chosen";
import { pageTexts, stateText, texts } from "./texts";
import { explained } from "./reasons";
import { Bar, inOrder, State } from "./State";
import type { MessageState, Recipient, SentPage } from "./types";
import { useKeys } from "./useKeys";

const part = 25;

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
  const box = useRef<HTMLDivElement>(null);
  const [most, setMost] = useState(part);
  useKeys(box);
  const among = address.state ? n.recipients.filter((r) => r.state === address.state) : n.recipients;
  const states = inOrder(n.counts);
  return (
    <Card flush label={p.recipients}>
      <div className="sent-sum">
        <Bar counts={n.counts} />
      </div>
      <header className="sent-states">
        <h2>{p.recipients}</h2>
        <div role="group" aria-label={t.state}>
          <button type="button" aria-pressed={!address.state} onClick={() => go({ state: undefined, m: undefined })}>
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
      {among.length === 0 ? (
        <p className="muted sent-none">{p.noneInState}</p>
      ) : (
        <div ref={box} className="table-wrap">
          <table className="table sent-table sent-recipients">
            <thead className="hidden">
              <tr>
                <th>{t.number}</th>
                <th>{t.state}</th>
              </tr>
            </thead>
            <tbody>
              {among.slice(0, most).map((r) => (
                <tr key={r.n} aria-current={shown?.n === r.n ? "true" : undefined} data-n={r.n}>
                  <td>
                    <button type="button" className="row-title sent-link" onClick={() => go({ ...address, m: r.n })}>
                      <span className="cut">{r.name || phone(r.number)}</span>
                    </button>
                    {r.name && <span className="sent-second small muted">{phone(r.number)}</span>}
                  </td>
                  <td>
                    <State state={r.state} />
                    {(r.state === "failed" || r.state === "skipped") && (
                      <span className="sent-second small muted sent-reason">{explained(r.reason, r.detail)?.why}</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {among.length > most && (
            <div className="sent-older sent-more">
              <Button variant="default" size="xs" onClick={() => setMost(most + part)}>
                {fill(p.showMore, { n: Math.min(part, among.length - most) })}
              </Button>
            </div>
          )}
        </div>
      )}
    </Card>
  );
}
