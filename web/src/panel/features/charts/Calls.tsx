import classes from "./charts.module.css";
import { SegmentedControl, Skeleton } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../../api";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { useNow } from "../../ui/Ago";
import { pointsOf, type Span } from "../../ui/chart/bins";
import { Chart, type Series } from "../../ui/chart/Chart";
import { spanOf } from "../overview/address";
import { outcomes, statesOf, type CallOutcome } from "./outcomes";
import { callTexts } from "./texts";

export interface CallQuery {
  direction?: "incoming";
  agent?: string;
  line?: string;
  campaign?: string;
  type?: string;
}

/** useCallOutcomes are the calls of a range by hour and state. */
export function useCallOutcomes(query: CallQuery, span: Span, enabled = true) {
  const company = useCompany();
  const all = { ...query, from: span.from.toISOString(), to: span.to.toISOString() };
  return useQuery({
    queryKey: [company.id, "call-outcomes", all],
    enabled,
    queryFn: async ({ signal }) => ({ span, shown: await get("/calls/outcomes", all, signal) }),
    refetchInterval: 10_000,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
}

/** CallChart is what became of calls over time. */
export function CallChart({ data, incoming }: { data: Counted; incoming?: boolean }) {
  const t = useTexts(callTexts);
  const points = useMemo(
    () =>
      pointsOf(
        data.shown.hours.map((h) => ({ hour: h.hour, ...statesOf(h.states) })),
        data.span,
        outcomes,
      ),
    [data],
  );
  const of = (key: CallOutcome, label: string, color: Series["color"]): Series<CallOutcome> => ({ key, label, color });
  return (
    <Chart
      title={incoming ? t.incoming : t.outgoing}
      points={points}
      unit={data.span.unit}
      series={[
        of("completed", t.completed, "best"),
        of("in_progress", t.in_progress, "middle"),
        of("queued", t.queued, "open"),
        of("voicemail", t.voicemail, "machine"),
        of("no_answer", t.no_answer, "missed"),
        of("busy", t.busy, "busy"),
        of("left_out", incoming ? t.missed : t.left_out, "left"),
        of("failed", t.failed, "bad"),
      ]}
      none={t.none}
      note={incoming ? t.noteIncoming : t.note}
    />
  );
}

type Counted = NonNullable<ReturnType<typeof useCallOutcomes>["data"]>;

export type CallRange = "7d" | "30d";

/** RangedCalls are calls of a range that is chosen beside them. */
export default function RangedCalls({
  query,
  range,
  choose,
}: {
  query: CallQuery;
  range: CallRange | undefined;
  choose: (to: CallRange | undefined) => void;
}) {
  const t = useTexts(callTexts);
  const hour = Math.floor(useNow() / 3_600_000); // the range moves on with it
  const span = useMemo(() => spanOf({ range }, new Date(Math.max(hour * 3_600_000, Date.now()))), [range, hour]);
  const one = useCallOutcomes(query, span);
  if (!one.data) return one.isError ? null : <Skeleton className={classes.above} height={390} radius="md" />;
  return (
    <section className={classes.above} aria-label={t.chart}>
      <SegmentedControl
        mb={12}
        aria-label={t.period}
        value={range ?? "24h"}
        onChange={(v) => choose(v === "24h" ? undefined : (v as CallRange))}
        data={[
          { value: "24h", label: t.h24 },
          { value: "7d", label: t.d7 },
          { value: "30d", label: t.d30 },
        ]}
      />
      <CallChart data={one.data} incoming={query.direction === "incoming"} />
    </section>
  );
}
