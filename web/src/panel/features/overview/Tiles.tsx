import type { ReactNode } from "react";
import { useLanguage, useTexts } from "../../i18n";
import { number } from "../../format";
import { fill } from "../../i18n";
import { useRate } from "../../ui/Rate";
import { duration } from "./format";
import { texts } from "./texts";
import type { Counts } from "./types";

/** Tiles are the figures of the whole range. */
export function Tiles({ total: c }: { total: Counts }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const n = (x: number) => number(x, language);
  const rate = useRate();
  const late = c.lateness;
  const tiles: { name: string; value: string; about: ReactNode; words?: string; tone?: string }[] = [
    {
      name: t.accepted,
      value: n(c.accepted),
      about: c.waiting > 0 ? fill(t.waitingN, { n: n(c.waiting) }) : t.noneWaiting,
    },
    { name: t.sent, value: n(c.sent), about: rate("sent", c).of, words: rate("sent", c).words },
    { name: t.delivered, value: n(c.delivered), about: rate("delivered", c).of, words: rate("delivered", c).words },
    { name: t.read, value: n(c.read), about: rate("read", c).of, words: rate("read", c).words },
    { name: t.replied, value: n(c.replied), about: rate("replied", c).of, words: rate("replied", c).words },
    {
      name: t.failed,
      value: n(c.failed),
      about: rate("failed", c).of,
      words: rate("failed", c).words,
      tone: c.failed > 0 ? "danger" : undefined,
    },
    {
      name: t.lateness,
      value: late ? duration(late.p50_ms, language) : "–",
      about: late ? (
        <>
          <span className="tile-line">{fill(t.p95, { time: duration(late.p95_ms, language) })}</span>
          <span className="tile-line">{fill(t.p99, { time: duration(late.p99_ms, language) })}</span>
        </>
      ) : (
        t.noLateness
      ),
    },
  ];
  return (
    <dl className="tiles">
      {tiles.map((x) => (
        <div key={x.name} className="card tile" data-tone={x.tone}>
          <dt>{x.name}</dt>
          <dd>{x.value}</dd>
          <dd className="small muted" title={x.words}>
            {x.about}
            {x.words && <span className="hidden"> ({x.words})</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
