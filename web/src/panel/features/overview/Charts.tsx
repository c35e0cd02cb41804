import { useMemo } from "react";
import { useTexts } from "../../i18n";
import { pointsOf, type Span } from "../../ui/chart/bins";
import { Chart } from "../../ui/chart/Chart";
import { messageSeries } from "../../ui/chart/outcomes";
import { parts, partsOf } from "../../ui/rates";
import type { Address } from "./address";
import { texts } from "./texts";
import type { Overview } from "./types";

/** Charts are what became of messages and of calls over time. */
export default function Charts({ shown, span }: { shown: Overview; span: Span; address: Address }) {
  const t = useTexts(texts);
  const messages = useMemo(
    () =>
      pointsOf(
        shown.hours.filter((h) => h.channel === "messaging").map((h) => ({ hour: h.hour, ...partsOf(h) })),
        span,
        parts,
      ),
    [shown.hours, span],
  );
  return (
    <Chart
      title={t.messagesOver}
      points={messages}
      unit={span.unit}
      series={messageSeries(t)}
      none={t.none}
      note={t.meaning}
    />
  );
}
