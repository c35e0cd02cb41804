import { number, percent } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useRate } from "../../ui/Rate";
import { rateOf, type Figures, type Rated } from "../../ui/rates";
import { texts } from "./texts";

/**
 * Funnel is how far recipients came, each step with its share. completed are the calls that came to their end; undefined
 * for messages. clicks: those of a counted link are among the steps.
 */
export function Funnel({ figures, completed, clicks }: { figures: Figures; completed?: number; clicks?: boolean }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const rate = useRate();
  const calls = completed !== undefined;
  const steps: [Rated | "completed" | undefined, string][] = calls
    ? [
        [undefined, t.placed],
        ["sent", t.dialed],
        ["delivered", t.answered],
        ["completed", t.completed],
      ]
    : [
        [undefined, t.accepted],
        ["sent", t.sent],
        ["delivered", t.delivered],
        ["read", t.read],
        ["replied", t.replied],
        ...(clicks ? ([["clicked", t.clicked]] as [Rated, string][]) : []),
      ];
  const ofAnswered = (part: number) => {
    if (figures.delivered <= 0) return { of: "", words: "" };
    const share = percent(part, figures.delivered, language);
    const values = { share, part: number(part, language), whole: number(figures.delivered, language) };
    return { of: fill(t.shareAnswered, values), words: fill(t.countAnswered, values) };
  };
  return (
    <figure className="card campaigns-funnel">
      <figcaption>{calls ? t.calls : t.messages}</figcaption>
      <ol>
        {steps.map(([name, label]) => {
          const part = name === "completed" ? (completed ?? 0) : name ? rateOf(name, figures).part : figures.accepted;
          const { of, words } =
            name === "completed" ? ofAnswered(part) : name ? rate(name, figures) : { of: "", words: "" };
          return (
            <li key={label} title={name === "replied" ? t.repliedHelp : name === "clicked" ? t.clickedHelp : undefined}>
              <span className="campaigns-step">
                <b>{label}</b>
                <span>{number(part, language)}</span>
              </span>
              <i aria-hidden="true" data-step={name ?? "accepted"}>
                <i style={{ width: `${figures.accepted ? (part / figures.accepted) * 100 : 0}%` }} />
              </i>
              <span className="small muted" title={words}>
                {of}
                {words && <span className="hidden"> ({words})</span>}
              </span>
            </li>
          );
        })}
      </ol>
    </figure>
  );
}
