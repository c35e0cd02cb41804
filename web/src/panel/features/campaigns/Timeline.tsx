import classes from "../charts/charts.module.css";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../../api";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { pointsOf, unitOf, type Span } from "../../ui/chart/bins";
import { Chart } from "../../ui/chart/Chart";
import { messageSeries } from "../../ui/chart/outcomes";
import { parts, partsOf } from "../../ui/rates";
import { CallChart, useCallOutcomes } from "../charts/Calls";
import { texts as overviewTexts } from "../overview/texts";
import { texts } from "./texts";
import type { Campaign } from "./types";

const hour = 3_600_000;
const most = 400 * 24 * hour; // the retention of counts

/** spanOf is from a campaign's first message to its last: hours, or days of the viewer. */
export function spanOf(c: Pick<Campaign, "first_at" | "last_at">): Span {
  const last = Math.floor(Date.parse(c.last_at) / hour) * hour + hour;
  const first = Math.max(Math.floor(Date.parse(c.first_at) / hour) * hour, last - most + 24 * hour);
  const [from, to] = [new Date(first), new Date(last)];
  const unit = unitOf(from, to);
  if (unit === "hour") return { from, to, unit };
  return {
    from: new Date(from.getFullYear(), from.getMonth(), from.getDate()),
    to: new Date(to.getFullYear(), to.getMonth(), to.getDate() + 1),
    unit,
  };
}

/** Timeline is what became of a campaign's messages and calls, by when they were accepted. */
export default function Timeline({ campaign: c }: { campaign: Campaign }) {
  const t = useTexts(texts);
  const o = useTexts(overviewTexts);
  const company = useCompany();
  const span = useMemo(() => spanOf({ first_at: c.first_at, last_at: c.last_at }), [c.first_at, c.last_at]);
  const query = { from: span.from.toISOString(), to: span.to.toISOString(), campaign: c.name, channel: "messaging" };
  const messages = useQuery({
    queryKey: [company.id, "overview", query],
    enabled: (c.messages?.accepted ?? 0) > 0,
    queryFn: ({ signal }) => get("/overview", query, signal),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
  const calls = useCallOutcomes({ campaign: c.name }, span, (c.calls?.accepted ?? 0) > 0);
  const points = useMemo(
    () =>
      pointsOf(
        (messages.data?.hours ?? []).map((h) => ({ hour: h.hour, ...partsOf(h) })),
        span,
        parts,
      ),
    [messages.data, span],
  );
  return (
    <div className={classes.pair + " " + classes.above}>
      {messages.data && (
        <Chart
          title={t.messagesOver}
          points={points}
          unit={span.unit}
          series={messageSeries(o)}
          none={o.none}
          note={o.meaning}
        />
      )}
      {calls.data && <CallChart data={calls.data} />}
    </div>
  );
}
