import { dictionary, useLanguage, useTexts } from "../i18n";

const texts = dictionary(
  { sure: "Very likely", likely: "Likely", possible: "Possible", unlikely: "Unlikely" },
  { sure: "Muy probable", likely: "Probable", possible: "Posible", unlikely: "Poco probable" },
  { sure: "Muito provável", likely: "Provável", possible: "Possível", unlikely: "Pouco provável" },
);

/** certainty is the word for a probability. */
export function certainty(confidence: number): keyof (typeof texts)["en"] {
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
