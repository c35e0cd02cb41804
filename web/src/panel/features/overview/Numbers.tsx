import { useLanguage, useTexts } from "../../i18n";
import { number } from "../../format";
import { when } from "./format";
import type { Points } from "./series";
import { texts } from "./texts";

/** Numbers is what the chart draws, as a table: the newest first, without what is empty. */
export function Numbers<L extends string>({
  points,
  unit,
  lines,
}: {
  points: Points<L>[];
  unit: "hour" | "day";
  lines: { key: L; label: string }[];
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const some = points.filter((p) => lines.some((line) => p[line.key] > 0)).reverse();
  if (some.length === 0) return <p className="overview-none">{t.none}</p>;
  return (
    <div className="table-wrap overview-numbers" tabIndex={0} role="group" aria-label={t.table}>
      <table className="table">
        <thead>
          <tr>
            <th>{unit === "hour" ? t.hour : t.day}</th>
            {lines.map((line) => (
              <th key={line.key} className="figure">
                {line.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {some.map((p) => (
            <tr key={p.at.getTime()}>
              <td className="nowrap">{when(p.at, unit, language, true)}</td>
              {lines.map((line) => (
                <td key={line.key} className="figure">
                  {number(p[line.key], language)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
