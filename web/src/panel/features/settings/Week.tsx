import { fill, useTexts } from "../../i18n";
import { texts } from "./texts";
import type { Hours } from "./types";
import { clockOf, days, spans } from "./week";

/** Week is the picture of a week: a bar a day, filled where calls are placed. */
export function Week({ hours }: { hours: Hours }) {
  const t = useTexts(texts);
  return (
    <div
      className="week"
      role="img"
      aria-label={`${t.week}: ${days.map((d, i) => `${t[d]} ${said(spans(hours)[i]!, t)}`).join(", ")}`}
    >
      <div className="week-scale" aria-hidden="true">
        <span />
        {["00", "06", "12", "18", "24"].map((h) => (
          <i key={h}>{h}</i>
        ))}
      </div>
      {days.map((d, i) => (
        <div key={d} className="week-day" aria-hidden="true">
          <span>{t[d]}</span>
          <div>
            {spans(hours)[i]!.map((s) => (
              <i
                key={s.from}
                style={{ insetInlineStart: `${(s.from / 1440) * 100}%`, width: `${((s.to - s.from) / 1440) * 100}%` }}
                title={`${clockOf(s.from)}–${clockOf(s.to)}`}
              />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

function said(all: { from: number; to: number }[], t: Record<"open" | "closed" | "always", string>): string {
  if (all.length === 0) return t.closed;
  if (all[0]!.from === 0 && all[0]!.to === 1440) return t.always;
  return all.map((s) => fill(t.open, { from: clockOf(s.from), to: clockOf(s.to) })).join(", ");
}
