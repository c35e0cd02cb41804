import { number } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { useRate } from "../../ui/Rate";
import { rateOf, type Figures, type Rated } from "../../ui/rates";
import { texts } from "./texts";

/** Funnel is how far recipients came, each step with its share. */
export function Funnel({ figures, calls }: { figures: Figures; calls?: boolean }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const rate = useRate();
  const steps: [Rated | undefined, string][] = calls
    ? [
        [undefined, t.placed],
        ["sent", t.dialed],
        ["delivered", t.answered],
      ]
    : [
        [undefined, t.accepted],
        ["sent", t.sent],
        ["delivered", t.delivered],
        ["read", t.read],
        ["replied", t.replied],
      ];
  return (
    <figure className="card campaigns-funnel">
      <figcaption>{calls ? t.calls : t.messages}</figcaption>
      <ol>
        {steps.map(([name, label]) => {
          const part = name ? rateOf(name, figures).part : figures.accepted;
          const { of, words } = name ? rate(name, figures) : { of: "", words: "" };
          return (
            <li key={label} title={name === "replied" ? t.repliedHelp : undefined}>
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
