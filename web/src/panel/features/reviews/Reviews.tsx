import "../overview/overview.css";
import "./reviews.css";
import { IconChecklist } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { get } from "../../api";
import { number, percent } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { pointsOf, type Span } from "../../ui/chart/bins";
import { Chart, type Series } from "../../ui/chart/Chart";
import { Card, Empty, Failed, Rows } from "../../ui/parts";
import { reviewTexts } from "./texts";

const goals = ["yes", "no", "unknown"] as const;
type Goal = (typeof goals)[number];
type Goals = Record<Goal, number>;

interface Count {
  value: string;
  reviews: number;
}
interface Shown {
  reviews: number;
  by: Count[];
  goals: Goals;
  hours: (Goals & { hour: string })[];
  topics: Count[];
  results: { name: string; values: Count[] }[];
}

/** Reviews is what became of conversations, over time. */
export function Reviews({ span, query }: { span: Span; query: Record<string, string | undefined> }) {
  const company = useCompany();
  const one = useQuery({
    queryKey: [company.id, "reviews", query],
    queryFn: async ({ signal }) => ({ span, shown: await get("/answers/reviews", query, signal) }),
    refetchInterval: 30_000,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
  if (one.data) return <Figures {...one.data} waits={one.isPlaceholderData} />;
  return one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />;
}

function Figures({ shown, span, waits }: { shown: Shown; span: Span; waits: boolean }) {
  const t = useTexts(reviewTexts);
  const language = useLanguage();
  const can = useCan();
  const points = useMemo(() => pointsOf(shown.hours, span, goals), [shown.hours, span]);
  const n = (x: number) => number(x, language);
  const judged = shown.goals.yes + shown.goals.no + shown.goals.unknown;
  const engine = shown.by.filter((x) => x.value !== "rules").reduce((sum, x) => sum + x.reviews, 0);
  if (shown.reviews === 0)
    return (
      <Card flush label={t.tab}>
        <Empty icon={<IconChecklist size={22} />} title={t.none} text={t.noneText} />
      </Card>
    );
  const series: Series<Goal>[] = [
    { key: "yes", label: t.reached, color: "best" },
    { key: "unknown", label: t.unknown, color: "open" },
    { key: "no", label: t.notReached, color: "bad" },
  ];
  return (
    <div className="stack" aria-busy={waits} data-waits={waits || undefined}>
      <dl className="tiles reviews-tiles">
        <div className="card tile">
          <dt>{t.reviews}</dt>
          <dd>{n(shown.reviews)}</dd>
          <dd className="small muted">{fill(t.ofEngine, { n: n(engine) })}</dd>
        </div>
        {series.map((l) => (
          <div key={l.key} className="card tile">
            <dt>{l.label}</dt>
            <dd>{percent(shown.goals[l.key], judged, language)}</dd>
            <dd className="small muted">{n(shown.goals[l.key])}</dd>
          </div>
        ))}
      </dl>
      <Chart title={t.goals} points={points} unit={span.unit} series={series} none={t.noGoals} />
      <div className="review-columns">
        <Card title={t.topics}>
          {shown.topics.length === 0 ? (
            <p className="muted" style={{ margin: 0 }}>
              {t.noTopics}
            </p>
          ) : (
            <Bars
              counts={shown.topics}
              of={shown.reviews}
              label={(topic) =>
                can("conversations:read") ? (
                  <Link
                    to="/inbox"
                    search={{ folder: "all", closed: true, q: "topic:" + topic }}
                    aria-label={fill(t.show, { topic })}
                  >
                    {topic}
                  </Link>
                ) : (
                  topic
                )
              }
            />
          )}
        </Card>
        <Card title={t.results}>
          {shown.results.length === 0 ? (
            <p className="muted" style={{ margin: 0 }}>
              {t.noResults}
            </p>
          ) : (
            shown.results.map((r) => (
              <div key={r.name} className="review-result">
                <h3>{r.name}</h3>
                <Bars
                  counts={r.values}
                  of={r.values.reduce((sum, x) => sum + x.reviews, 0)}
                  label={(v) => (v === "true" ? t.yes : v === "false" ? t.no : v)}
                />
              </div>
            ))
          )}
        </Card>
      </div>
    </div>
  );
}

/** Bars are counts with their share. */
function Bars({ counts, of, label }: { counts: Count[]; of: number; label: (value: string) => React.ReactNode }) {
  const language = useLanguage();
  return (
    <ul className="review-bars">
      {counts.map((x) => (
        <li key={x.value}>
          <span>{label(x.value)}</span>
          <span className="muted">
            {number(x.reviews, language)} · {percent(x.reviews, of, language)}
          </span>
          <span className="review-bar" aria-hidden="true">
            <span style={{ width: `${Math.min(100, (100 * x.reviews) / Math.max(1, of))}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}
