import { useMemo } from "react";
import type { Schemas } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { pointsOf, type Span } from "../../ui/chart/bins";
import { Chart, type Series } from "../../ui/chart/Chart";
import { answerTexts } from "./texts";

export type Answered = Schemas["AgentsAnswersShown"];

const answers = ["answered", "offered", "handed_over", "unanswered"] as const;
const thumbs = ["up", "down"] as const;
const stars = ["five", "four", "three", "two", "one"] as const;
type Answer = (typeof answers)[number];
type Thumb = (typeof thumbs)[number];
type Stars = (typeof stars)[number];

/** AnswerChart is what agents did with questions over time. */
export function AnswerChart({ shown, span }: { shown: Answered; span: Span }) {
  const t = useTexts(answerTexts);
  const points = useMemo(() => pointsOf(shown.hours, span, answers), [shown.hours, span]);
  const series: Series<Answer>[] = [
    { key: "answered", label: t.answered, color: "best" },
    { key: "offered", label: t.offered, color: "good" },
    { key: "handed_over", label: t.handed_over, color: "middle" },
    { key: "unanswered", label: t.unanswered, color: "bad" },
  ];
  return <Chart title={t.quality} points={points} unit={span.unit} series={series} none={t.none} note={t.note} />;
}

/** Ratings are the thumbs on answers and the stars of conversations over time. */
export function Ratings({ shown, span }: { shown: Answered; span: Span }) {
  const t = useTexts(answerTexts);
  const language = useLanguage();
  const scores = useMemo(() => pointsOf(shown.hours, span, thumbs), [shown.hours, span]);
  const rated = useMemo(() => pointsOf(shown.rated, span, stars), [shown.rated, span]);
  const n = (key: Stars) => shown.rated.reduce((sum, h) => sum + h[key], 0);
  const all = stars.reduce((sum, key) => sum + n(key), 0);
  const average = stars.reduce((sum, key, i) => sum + (stars.length - i) * n(key), 0) / all;
  const mean = new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(average);
  const up: Series<Thumb>[] = [
    { key: "up", label: t.up, color: "best" },
    { key: "down", label: t.down, color: "bad" },
  ];
  const five: Series<Stars>[] = [
    { key: "five", label: t.five, color: "best" },
    { key: "four", label: t.four, color: "good" },
    { key: "three", label: t.three, color: "open" },
    { key: "two", label: t.two, color: "missed" },
    { key: "one", label: t.one, color: "bad" },
  ];
  return (
    <>
      <Chart title={t.thumbs} points={scores} unit={span.unit} series={up} none={t.noThumbs} />
      <Chart
        title={t.stars}
        points={rated}
        unit={span.unit}
        series={five}
        none={t.noStars}
        note={all > 0 && fill(all === 1 ? t.averageOne : t.average, { n: mean, of: number(all, language) })}
      />
    </>
  );
}
