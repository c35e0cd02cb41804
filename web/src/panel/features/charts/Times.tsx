import classes from "./charts.module.css";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get, type Schemas } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { binsOf, nextOf, type Point, type Span } from "../../ui/chart/bins";
import { Chart, type Series } from "../../ui/chart/Chart";
import { Card } from "../../ui/parts";
import { duration } from "../overview/format";
import { timeTexts } from "./texts";

type Times = Schemas["InboxTimesShown"];
type Percentile = "p90" | "p50";

/** useTimes are the times until teammates replied and resolved, by the bins of a range. */
export function useTimes(span: Span, enabled: boolean) {
  const company = useCompany();
  const bounds = [...binsOf(span), span.to].map((at) => Math.floor(at.getTime() / 1000)).join(",");
  return useQuery({
    queryKey: [company.id, "conversations", "times", bounds],
    enabled,
    queryFn: async ({ signal }) => ({ span, times: await get("/conversations/times", { bounds }, signal) }),
    refetchInterval: 30_000,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
}

/** timePoints are the median and the 90th percentile of each bin. */
export function timePoints(times: Times, span: Span, of: "reply" | "resolve", now = new Date()): Point<Percentile>[] {
  return binsOf(span).map((at, i) => {
    const end = nextOf(at, span.unit);
    const until = end < span.to ? end : span.to;
    const b = times.bins[i];
    return { at, until, open: at <= now && now < until, p90: b?.[`${of}_p90_ms`] ?? 0, p50: b?.[`${of}_p50_ms`] ?? 0 };
  });
}

/** ResponseTimes are how soon teammates replied and resolved, over time and by teammate. */
export function ResponseTimes({ times, span }: { times: Times; span: Span }) {
  const t = useTexts(timeTexts);
  const language = useLanguage();
  const say = (ms: number) => duration(ms, language);
  const series: Series<Percentile>[] = [
    { key: "p90", label: t.p90, color: "open" },
    { key: "p50", label: t.p50, color: "middle" },
  ];
  const values = {
    replied: number(times.total.replied, language),
    resolved: number(times.total.resolved, language),
    all: number(times.total.handoffs, language),
  };
  const chart = (of: "reply" | "resolve", none: string, note: string) => (
    <Chart
      title={t[of]}
      points={timePoints(times, span, of)}
      unit={span.unit}
      series={series}
      overlaid
      say={say}
      none={none}
      note={fill(note, values)}
    />
  );
  return (
    <>
      {chart("reply", t.none, t.note)}
      {chart("resolve", t.noneResolved, t.noteResolved)}
      {times.teammates.length > 0 && (
        <div className={classes.all}>
          <Card title={t.byTeammate} flush>
            <div className={classes.people} tabIndex={0} role="group" aria-label={t.byTeammate}>
              <table className="table">
                <thead>
                  <tr>
                    <th>{t.teammate}</th>
                    <th>{t.replies}</th>
                    <th>{t.replyP50}</th>
                    <th>{t.replyP90}</th>
                    <th>{t.resolveP50}</th>
                  </tr>
                </thead>
                <tbody>
                  {times.teammates.map((x) => (
                    <tr key={x.account_id}>
                      <td>
                        <span className={classes.name} title={x.name || t.left}>
                          {x.name || t.left}
                        </span>
                      </td>
                      <td>{number(x.replied, language)}</td>
                      <td>{say(x.reply_p50_ms)}</td>
                      <td>{say(x.reply_p90_ms)}</td>
                      <td>{x.resolved > 0 ? say(x.resolve_p50_ms) : "–"}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </Card>
        </div>
      )}
    </>
  );
}
