import { useLanguage, useTexts, type TextsOf } from "../i18n";
import { certaintyTexts as texts } from "./texts";

/** certainty is the word for a probability. */
export function certainty(confidence: number): keyof TextsOf<typeof texts> {
  if (confidence >= 0.75) return "sure";
  if (confidence >= 0.5) return "likely";
  return confidence >= 0.25 ? "possible" : "unlikely";
}

/** Certainty is how sure it is that a passage answers a question, as a bar, a word and in percent. */
export function Certainty({ of }: { of: number }) {
  const t = useTexts(texts);
  const percent = new Intl.NumberFormat(useLanguage(), { style: "percent" }).format(of);
  return (
    <span className="certainty">
      <i aria-hidden="true">
        <i style={{ inlineSize: `${Math.round(of * 100)}%` }} />
      </i>
      {t[certainty(of)]} ({percent})
    </span>
  );
}
