import { useLanguage, useTexts } from "../../i18n";
import { number } from "../../format";
import { fill } from "../../i18n";
import { duration, percent } from "./format";
import { texts } from "./texts";
import type { Counts } from "./types";

/** Tiles are the figures of the whole range. */
export function Tiles({ total: c }: { total: Counts }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const n = (x: number) => number(x, language);
  const share = (text: string, x: number, of: number) =>
    of > 0 ? fill(text, { share: percent(x, of, language) }) : "";
  const late = c.lateness;
  const tiles: { name: string; value: string; about: string; tone?: string }[] = [
    {
      name: t.accepted,
      value: n(c.accepted),
      about: c.waiting > 0 ? fill(t.waitingN, { n: n(c.waiting) }) : t.noneWaiting,
    },
    { name: t.sent, value: n(c.sent), about: share(t.ofAccepted, c.sent, c.accepted) },
    { name: t.delivered, value: n(c.delivered), about: share(t.ofSent, c.delivered, c.sent) },
    { name: t.read, value: n(c.read), about: share(t.ofDelivered, c.read, c.delivered) },
    {
      name: t.failed,
      value: n(c.failed),
      about: share(t.ofAccepted, c.failed, c.accepted),
      tone: c.failed > 0 ? "danger" : undefined,
    },
    {
      name: t.lateness,
      value: late ? duration(late.p50_ms, language) : "–",
      about: late
        ? fill(t.latest, { p95: duration(late.p95_ms, language), p99: duration(late.p99_ms, language) })
        : t.noLateness,
    },
  ];
  return (
    <dl className="tiles">
      {tiles.map((x) => (
        <div key={x.name} className="card tile" data-tone={x.tone}>
          <dt>{x.name}</dt>
          <dd>{x.value}</dd>
          <dd className="small muted">{x.about}</dd>
        </div>
      ))}
    </dl>
  );
}
