import classes from "../charts/charts.module.css";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../../api";
import { useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { pointsOf, type Span } from "../../ui/chart/bins";
import { Chart } from "../../ui/chart/Chart";
import { messageSeries } from "../../ui/chart/outcomes";
import { parts, partsOf } from "../../ui/rates";
import { AnswerChart } from "../charts/Answers";
import { CallChart, useCallOutcomes } from "../charts/Calls";
import { ResponseTimes, useTimes } from "../charts/Times";
import { narrowed, type Address } from "./address";
import { texts } from "./texts";
import type { Overview } from "./types";

/** Charts are what became of messages and of calls over time and, of the company as a whole, how agents and teammates answered. */
export default function Charts({ shown, span, address }: { shown: Overview; span: Span; address: Address }) {
  const t = useTexts(texts);
  const of = (channel: string) => shown.hours.filter((h) => h.channel === channel);
  const messages = useMemo(
    () =>
      pointsOf(
        of("messaging").map((h) => ({ hour: h.hour, ...partsOf(h) })),
        span,
        parts,
      ),
    [shown.hours, span],
  );
  const voice = of("voice").length > 0;
  const calls = useCallOutcomes(
    { line: address.sender, campaign: address.campaign, type: address.type },
    span,
    voice && !address.template && !address.language,
  );
  const none = narrowed(address) ? t.noneFiltered : t.none;
  return (
    <>
      {(of("messaging").length > 0 || !voice) && (
        <Chart
          title={t.messagesOver}
          points={messages}
          unit={span.unit}
          series={messageSeries(t)}
          none={none}
          note={t.meaning}
        />
      )}
      {voice && calls.data && <CallChart data={calls.data} />}
      {!narrowed(address) && <Conversations span={span} />}
    </>
  );
}

/** Conversations are how agents and teammates answered, where there was anything to answer. */
function Conversations({ span }: { span: Span }) {
  const company = useCompany();
  const can = useCan();
  const query = { from: span.from.toISOString(), to: span.to.toISOString() };
  const answers = useQuery({
    queryKey: [company.id, "answers", query],
    enabled: can("resources:read"),
    queryFn: async ({ signal }) => ({ span, shown: await get("/answers", query, signal) }),
    refetchInterval: 30_000,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
  const times = useTimes(span, can("conversations:read"));
  const asked = (answers.data?.shown.agents.length ?? 0) > 0;
  const waited = (times.data?.times.total.handoffs ?? 0) > 0;
  return (
    <>
      {asked && <AnswerChart {...answers.data!} />}
      {waited && (
        <div className={classes.pair}>
          <ResponseTimes {...times.data!} />
        </div>
      )}
    </>
  );
}
