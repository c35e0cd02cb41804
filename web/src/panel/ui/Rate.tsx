import { Tooltip } from "@mantine/core";
import { number, percent } from "../format";
import { fill, useLanguage, useTexts } from "../i18n";
import { of, rateOf, type Figures, type Rated } from "./rates";
import { rateTexts } from "./texts";

const events = { hover: true, focus: true, touch: true };

/** useRate is a rate in words: its percentage, and the part and the whole behind it; "" of nothing. */
export function useRate(): (name: Rated, f: Figures) => { share: string; words: string; of: string } {
  const t = useTexts(rateTexts);
  const language = useLanguage();
  return (name, f) => {
    const r = rateOf(name, f);
    if (r.whole <= 0) return { share: "", words: "", of: "" };
    const share = percent(r.part, r.whole, language);
    const words = fill(t[`count_${r.of}`], { part: number(r.part, language), whole: number(r.whole, language) });
    return { share, words, of: fill(t[`share_${r.of}`], { share }) };
  };
}

/** Rate is a percentage that shows the numbers behind it on hover; screen readers hear them. */
export function Rate({ name, figures }: { name: Rated; figures: Figures }) {
  const { share, words } = useRate()(name, figures);
  if (!share) return <>–</>;
  return (
    <Tooltip label={words} events={events}>
      <span>
        {share}
        <span className="hidden"> ({words})</span>
      </span>
    </Tooltip>
  );
}

/** RateName is the heading of a column of rates. Its definition shows on hover and on focus. */
export function RateName({ name, label }: { name: Rated; label: string }) {
  const t = useTexts(rateTexts);
  const text = t[`means_${of[name]}`];
  return (
    <Tooltip label={text} events={events} multiline maw={260}>
      <span className="rate-name" tabIndex={0}>
        {label}
        <span className="hidden"> ({text})</span>
      </span>
    </Tooltip>
  );
}
