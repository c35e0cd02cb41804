import { useTexts } from "../../i18n";
import { Certainty } from "../../ui/Certainty";
import { answerTexts } from "../knowledge/texts";
import type { Turn } from "./types";
import { whyTexts as texts } from "./texts";

/** Why shows on what an agent's response is based: its outcome, the passages and how sure it was. */
export function Why({ turn }: { turn: Turn }) {
  const t = useTexts(texts);
  const a = useTexts(answerTexts);
  if (!turn.outcome) return null;
  return (
    <details className="inbox-why">
      <summary>
        {t.why}
        {turn.score && <> · {t[turn.score]}</>}
      </summary>
      <p>{a[turn.outcome]}</p>
      {turn.passages?.map((p, i) => (
        <blockquote key={i}>
          <b>{p.title}</b>
          {p.knowledge && <span> {t.base.replace("{base}", p.knowledge)}</span>}
          {p.confidence !== undefined && (
            <span>
              {" "}
              · <Certainty of={p.confidence} />
            </span>
          )}
          {p.text && <p>{p.text}</p>}
        </blockquote>
      ))}
    </details>
  );
}
