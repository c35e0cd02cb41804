import { dictionary, useTexts } from "../../i18n";
import { Certainty } from "../../ui/Certainty";
import { answerTexts } from "../knowledge/answerTexts";
import type { Turn } from "./types";

const texts = dictionary(
  {
    why: "Why this answer",
    like: "The visitor found it helpful",
    dislike: "The visitor marked it as wrong",
    base: "in {base}",
  },
  {
    why: "Por qué esta respuesta",
    like: "Al visitante le ayudó",
    dislike: "El visitante la marcó como incorrecta",
    base: "en {base}",
  },
  {
    why: "Por que esta resposta",
    like: "O visitante achou útil",
    dislike: "O visitante marcou como errada",
    base: "em {base}",
  },
);

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
