import "../overview/overview.css";
import "./questions.css";
import { Button, SegmentedControl, Select } from "@mantine/core";
import { IconDownload, IconMessageQuestion } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { address, get } from "../../api";
import { number, percent } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import type { Outcome } from "../agents/types";
import { useNow } from "../../ui/Ago";
import type { Span } from "../../ui/chart/bins";
import { Day } from "../../ui/Day";
import { Card, Empty, Failed, Rows } from "../../ui/parts";
import { useList } from "../../ui/resources";
import classes from "../charts/charts.module.css";
import { AnswerChart, Ratings, type Answered } from "../charts/Answers";
import { addressOf, dateOf, ranges, spanOf } from "../overview/address";
import { texts as overviewTexts } from "../overview/texts";
import { Reviews } from "../reviews/Reviews";
import { reviewTexts } from "../reviews/texts";
import { answerTexts, texts } from "./texts";

type Counts = Record<Outcome | "up" | "down", number>;
type Shown = Answered;

const outcomes: Outcome[] = ["answered", "offered", "handed_over", "unanswered"];
const asked = (c: Counts) => outcomes.reduce((sum, o) => sum + c[o], 0);
const usual = "7d";

/** Answers is how agents responded to questions, over time. The address holds the range and the agent. */
export function Answers() {
  const a = useTexts(answerTexts);
  const o = useTexts(overviewTexts);
  const r = useTexts(reviewTexts);
  const company = useCompany();
  const navigate = useNavigate();
  const { range = usual, from, to, agent, view } = useSearch({ from: "/shell/knowledge" });
  const hour = Math.floor(useNow() / 3_600_000); // the range moves on with it
  const span = useMemo(
    () => spanOf(addressOf({ range, from, to }), new Date(Math.max(hour * 3_600_000, Date.now()))),
    [range, from, to, hour],
  );
  const query = { from: span.from.toISOString(), to: span.to.toISOString(), agent_id: agent };
  const agents = useList("agents");
  const one = useQuery({
    enabled: view !== "reviews",
    queryKey: [company.id, "answers", query],
    queryFn: async ({ signal }) => ({ span, shown: await get("/answers", query, signal) }),
    refetchInterval: 30_000,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
  const go = (more: { range?: string; from?: string; to?: string; agent?: string; view?: "reviews" }) =>
    void navigate({ to: "/knowledge", replace: true, search: (now) => ({ ...now, tab: "answers", ...more }) });
  const today = dateOf(new Date());
  return (
    <div className="stack">
      <p className="muted" style={{ margin: 0 }}>
        {view === "reviews" ? r.help : a.help}
      </p>
      <div className="overview-filters" role="group" aria-label={o.filters}>
        <SegmentedControl
          aria-label={a.view}
          value={view ?? "answers"}
          onChange={(v) => go({ view: v === "reviews" ? v : undefined })}
          data={[
            { value: "answers", label: a.tab },
            { value: "reviews", label: r.tab },
          ]}
        />
        <SegmentedControl
          aria-label={o.range}
          value={range}
          onChange={(v) =>
            go({
              range: v === usual ? undefined : v,
              from: v === "own" ? dateOf(new Date(Date.now() - 6 * 86_400_000)) : undefined,
              to: v === "own" ? today : undefined,
            })
          }
          data={ranges.map((r) => ({ value: r, label: o[r] }))}
        />
        {range === "own" && (
          <>
            <Day label={o.from} value={from} most={to ?? today} change={(day) => go({ from: day })} />
            <Day label={o.to} value={to} least={from} most={today} change={(day) => go({ to: day })} />
          </>
        )}
        <Select
          aria-label={a.agent}
          placeholder={a.anyAgent}
          clearable
          checkIconPosition="right"
          value={agent ?? null}
          onChange={(v) => go({ agent: v ?? undefined })}
          data={(agents.data ?? []).map((x) => ({ value: x.id, label: x.name }))}
        />
        {view !== "reviews" && (
          <Button
            variant="default"
            component="a"
            href={address("/answers/export", query)}
            download="answers.csv"
            leftSection={<IconDownload size={16} />}
          >
            {a.export}
          </Button>
        )}
      </div>
      {view === "reviews" ? (
        <Reviews span={span} query={query} />
      ) : one.data ? (
        <Figures {...one.data} waits={one.isPlaceholderData} />
      ) : one.isError ? (
        <Failed error={one.error} retry={() => void one.refetch()} />
      ) : (
        <Rows />
      )}
    </div>
  );
}

function Figures({ shown, span, waits }: { shown: Shown; span: Span; waits: boolean }) {
  const a = useTexts(answerTexts);
  const language = useLanguage();
  const total = asked(shown.total);
  const n = (x: number) => number(x, language);
  const about = {
    answered: a.aboutAnswered,
    offered: a.aboutOffered,
    handed_over: a.aboutHandedOver,
    unanswered: a.aboutUnanswered,
  };
  if (total === 0 && shown.total.up + shown.total.down + shown.rated.length === 0)
    return (
      <Card flush label={a.outcomes}>
        <Empty icon={<IconMessageQuestion size={22} />} title={a.none} text={a.noneText} />
      </Card>
    );
  return (
    <div className="stack" aria-busy={waits} data-waits={waits || undefined}>
      <dl className="tiles answers-tiles">
        {outcomes.map((x) => (
          <div key={x} className="card tile">
            <dt>{a[x]}</dt>
            <dd>{percent(shown.total[x], total, language)}</dd>
            <dd className="small muted">
              {n(shown.total[x])} · {about[x]}
            </dd>
          </div>
        ))}
        <div className="card tile">
          <dt>{a.thumbs}</dt>
          <dd>{percent(shown.total.up, shown.total.up + shown.total.down, language)}</dd>
          <dd className="small muted">
            {fill(a.ups, { n: n(shown.total.up) })} · {fill(a.downs, { n: n(shown.total.down) })}
          </dd>
        </div>
      </dl>
      <AnswerChart shown={shown} span={span} />
      <div className={classes.pair}>
        <Ratings shown={shown} span={span} />
      </div>
      <ByAgent agents={shown.agents} />
    </div>
  );
}

function ByAgent({ agents }: { agents: Shown["agents"] }) {
  const a = useTexts(answerTexts);
  const t = useTexts(texts);
  const language = useLanguage();
  return (
    <Card flush title={a.byAgent}>
      <div className="table-wrap">
        <table className="table">
          <thead>
            <tr>
              <th>{a.agent}</th>
              <th className="figure">{a.questions}</th>
              {outcomes.map((x) => (
                <th key={x} className={"figure" + (x === "answered" || x === "unanswered" ? "" : " wide-only")}>
                  {a[x]}
                </th>
              ))}
              <th className="figure wide-only">{a.thumbs}</th>
            </tr>
          </thead>
          <tbody>
            {agents.map((x) => (
              <tr key={x.agent_id}>
                <td>{x.agent || <span className="muted">{t.gone}</span>}</td>
                <td className="figure">{number(asked(x), language)}</td>
                {outcomes.map((c) => (
                  <td
                    key={c}
                    className={"figure" + (c === "answered" || c === "unanswered" ? "" : " wide-only")}
                    title={number(x[c], language)}
                  >
                    {percent(x[c], asked(x), language)}
                  </td>
                ))}
                <td className="figure wide-only">
                  {fill(a.ups, { n: number(x.up, language) })} · {fill(a.downs, { n: number(x.down, language) })}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
