import classes from "./chart.module.css";
import { Button } from "@mantine/core";
import { IconChartBar, IconTable } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { number, percent } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Card } from "../parts";
import { chartTexts } from "../texts";
import { binName } from "./axis";
import { Bars, Swatch } from "./Bars";
import type { Point, Unit } from "./bins";
import type { Color } from "./colors";

export interface Series<K extends string = string> {
  key: K;
  label: string;
  color: Color;
}

export interface Drawn<K extends string> {
  points: Point<K>[];
  unit: Unit;
  /** series are parts of a whole, the lowest first; overlaid, each is a measure of its own, the greatest first. */
  series: Series<K>[];
  overlaid?: boolean;
  /** say writes a value; a number where it is missing. */
  say?: (n: number) => string;
}

/** Chart is a card with bars over time, and the same figures as a table. */
export function Chart<K extends string>({
  title,
  none,
  note,
  ...drawn
}: Drawn<K> & {
  title: string;
  /** none is said instead of the bars where there are no figures. */
  none: string;
  note?: ReactNode;
}) {
  const t = useTexts(chartTexts);
  const [table, setTable] = useState(false);
  const [off, setOff] = useState<readonly K[]>([]);
  const sum = (key: K) => drawn.points.reduce((n, p) => n + p[key], 0);
  const series = drawn.series.filter((s) => sum(s.key) > 0);
  const on = series.filter((s) => !off.includes(s.key));
  const toggle = (key: K) => {
    const to = off.includes(key) ? off.filter((k) => k !== key) : [...off, key];
    setOff(series.every((s) => to.includes(s.key)) ? [] : to);
  };
  return (
    <Card
      title={title}
      actions={
        series.length > 0 && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            className={classes.form}
            leftSection={table ? <IconChartBar size={15} /> : <IconTable size={15} />}
            onClick={() => setTable(!table)}
          >
            {table ? t.asChart : t.asTable}
          </Button>
        )
      }
    >
      {series.length === 0 ? (
        <p className={classes.none}>{none}</p>
      ) : table ? (
        <Table {...drawn} series={series} title={title} />
      ) : (
        <div data-chart>
          <ul className={classes.legend} aria-label={t.legend}>
            {series.map((s) => (
              <li key={s.key}>
                <button
                  type="button"
                  aria-pressed={!off.includes(s.key)}
                  title={off.includes(s.key) ? t.show : t.hide}
                  onClick={() => toggle(s.key)}
                >
                  <Swatch color={s.color} />
                  {s.label}
                  {!drawn.overlaid && <Share n={sum(s.key)} />}
                </button>
              </li>
            ))}
          </ul>
          <Bars {...drawn} series={series} on={on} title={title} />
        </div>
      )}
      {note && <p className={"small muted " + classes.note}>{note}</p>}
    </Card>
  );
}

function Share({ n }: { n: number }) {
  const language = useLanguage();
  return <span className="muted">{number(n, language)}</span>;
}

/** Table has the figures of all bins, the newest first, and their sums. */
function Table<K extends string>({ points, unit, series, overlaid, say, title }: Drawn<K> & { title: string }) {
  const t = useTexts(chartTexts);
  const language = useLanguage();
  const text = (n: number) => (say ? say(n) : number(n, language));
  const all = (p: Record<K, number>) => series.reduce((n, s) => n + p[s.key], 0);
  const sums = Object.fromEntries(series.map((s) => [s.key, points.reduce((n, p) => n + p[s.key], 0)]));
  const cells = (p: Record<K, number>) => (
    <>
      {series.map((s) => (
        <td key={s.key} className={classes.figure} data-none={p[s.key] === 0 || undefined}>
          {overlaid && p[s.key] === 0 ? "–" : text(p[s.key])}
          {!overlaid && p[s.key] > 0 && series.length > 1 && (
            <>
              {" "}
              <span className={classes.share}>{percent(p[s.key], all(p), language)}</span>
            </>
          )}
        </td>
      ))}
      {!overlaid && series.length > 1 && (
        <td className={classes.figure} data-none={all(p) === 0 || undefined}>
          {text(all(p))}
        </td>
      )}
    </>
  );
  return (
    <div className={classes.numbers} tabIndex={0} role="group" aria-label={fill(t.tableOf, { title })}>
      <table className="table">
        <thead>
          <tr>
            <th>{t[unit]}</th>
            {series.map((s) => (
              <th key={s.key} className={classes.figure}>
                {s.label}
              </th>
            ))}
            {!overlaid && series.length > 1 && <th className={classes.figure}>{t.all}</th>}
          </tr>
        </thead>
        <tbody>
          {[...points].reverse().map((p) => (
            <tr key={p.at.getTime()}>
              <th scope="row">
                {binName(p, unit, language)}
                {p.open && <span className="muted"> {t.soFar}</span>}
              </th>
              {cells(p)}
            </tr>
          ))}
        </tbody>
        {!overlaid && (
          <tfoot>
            <tr>
              <th scope="row">{t.all}</th>
              {cells(sums as Record<K, number>)}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
