import { filled } from "../../ui/English";
import "./reviews.css";
import { absolute, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import type { Review } from "./types";
import { Tag, type Tone } from "../../ui/parts";
import { Told, told } from "../../ui/Told";
import { reviewTexts } from "./texts";

const tones: Record<"yes" | "no" | "unknown", Tone | undefined> = { yes: "ok", no: "danger", unknown: undefined };

/** ReviewShown is the review of a conversation; a call shows its results elsewhere. */
export function ReviewShown({ review: r, withoutResult }: { review: Review; withoutResult?: boolean }) {
  const t = useTexts(reviewTexts);
  const language = useLanguage();
  const value = (v: string | number | boolean) =>
    typeof v === "boolean" ? (v ? t.yes : t.no) : typeof v === "number" ? number(v, language) : v;
  const results = withoutResult ? [] : Object.entries(r.result ?? {});
  return (
    <div className="review">
      <p className="review-summary">{r.summary}</p>
      {r.goal && (
        <div className="review-goal">
          <Tag tone={tones[r.goal.reached]}>{t[`goal_${r.goal.reached}`]}</Tag>
          <p className="small">{told(r.goal.reason) || r.goal.reason}</p>
          <p className="small muted">{fill(t.goal, { goal: r.goal.goal })}</p>
        </div>
      )}
      {results.length > 0 && (
        <dl className="review-results">
          {results.map(([name, v]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value(v)}</dd>
            </div>
          ))}
        </dl>
      )}
      {r.topics.length > 0 && (
        <ul className="review-topics" aria-label={t.topics}>
          {r.topics.map((topic) => (
            <li key={topic}>
              <Tag>{topic}</Tag>
            </li>
          ))}
        </ul>
      )}
      <p className="small muted">
        {r.by === "rules" ? t.byRules : t.byEngine} · <time dateTime={r.at}>{absolute(r.at, language)}</time>
        {r.failure && <span className="review-failure"> {filled(t.failure, { why: <Told text={r.failure} /> })}</span>}
      </p>
    </div>
  );
}
