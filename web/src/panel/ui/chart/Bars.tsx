import "./outcome.css";
import classes from "./chart.module.css";
import { useElementSize } from "@mantine/hooks";
import { useId, useState } from "react";
import { number, percent } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { chartTexts } from "../texts";
import { binName, dayMarks, ticksOf, xLabels } from "./axis";
import type { Point } from "./bins";
import type { Drawn, Series } from "./Chart";
import { colorOf, striped, type Color } from "./colors";

const height = 220;
const top = 10;
const gap = 1.5; // between the parts of a bar

let canvas: CanvasRenderingContext2D | null | undefined;

/** measure is the width of a text at an axis. */
function measure(text: string): number {
  canvas ??= document.createElement("canvas").getContext("2d");
  if (!canvas) return text.length * 7;
  canvas.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return Math.ceil(canvas.measureText(text).width);
}

/** Swatch is the color of a series, with its stripes. */
export function Swatch({ color }: { color: Color }) {
  return (
    <span
      className={classes.swatch}
      data-striped={striped.includes(color) || undefined}
      style={{ color: colorOf(color) }}
      aria-hidden="true"
    />
  );
}

/** Bars draws the series of a chart. The pointer, a touch or the arrow keys choose a bin, whose figures show and are read out. */
export function Bars<K extends string>({
  points,
  unit,
  series,
  on,
  overlaid,
  say,
  title,
}: Drawn<K> & { on: Series<K>[]; title: string }) {
  const t = useTexts(chartTexts);
  const language = useLanguage();
  const { ref, width: all } = useElementSize<HTMLDivElement>();
  const [at, setAt] = useState<number | null>(null);
  const [focused, setFocused] = useState(false);
  const id = useId();
  const text = (n: number) => (say ? say(n) : number(n, language));
  const short = (n: number) =>
    say ? say(n) : new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 }).format(n);
  const high = (p: Point<K>) =>
    overlaid ? Math.max(0, ...on.map((s) => p[s.key])) : on.reduce((n, s) => n + p[s.key], 0);
  const ticks = ticksOf(Math.max(0, ...points.map(high)), !!say);
  const most = ticks.at(-1)!;
  const left = Math.max(...ticks.map((n) => measure(short(n)))) + 10;
  const width = Math.max(0, all - left);
  const band = width / Math.max(1, points.length);
  const thick = Math.max(1, Math.min(44, band * 0.76));
  const bins = points.map((p) => p.at);
  const marks = unit === "hour" ? dayMarks(bins, language, width, measure) : [];
  const foot = unit === "hour" ? 40 : 22;
  const y = (n: number) => top + (1 - n / most) * height;
  const p = at === null ? undefined : points[at];
  const choose = (x: number) => setAt(Math.max(0, Math.min(points.length - 1, Math.floor((x - left) / band))));
  const whole = (q: Point<K>) => series.reduce((n, s) => n + q[s.key], 0);
  const words = (q: Point<K>) =>
    fill(t.bin, {
      bin: binName(q, unit, language) + (q.open ? " " + t.soFar : ""),
      figures: on
        .map((s) =>
          overlaid
            ? `${s.label}: ${q[s.key] > 0 ? text(q[s.key]) : "–"}`
            : `${s.label}: ${text(q[s.key])}` + (whole(q) > 0 ? ` (${percent(q[s.key], whole(q), language)})` : ""),
        )
        .join(", "),
    });
  const keys: Record<string, number> = {
    ArrowRight: (at ?? -1) + 1,
    ArrowLeft: (at ?? points.length) - 1,
    Home: 0,
    End: points.length - 1,
  };
  return (
    <div
      ref={ref}
      className={classes.box}
      tabIndex={0}
      role="application"
      aria-roledescription={t.chart}
      aria-label={fill(t.help, { title })}
      onPointerMove={(e) => choose(e.clientX - e.currentTarget.getBoundingClientRect().left)}
      onPointerDown={(e) => choose(e.clientX - e.currentTarget.getBoundingClientRect().left)}
      onPointerLeave={(e) => e.pointerType === "mouse" && setAt(null)}
      onFocus={() => setFocused(true)}
      onBlur={() => {
        setFocused(false);
        setAt(null);
      }}
      onKeyDown={(e) => {
        const to = keys[e.key];
        if (to !== undefined) {
          e.preventDefault();
          setAt(Math.max(0, Math.min(points.length - 1, to)));
        } else if (e.key === "Escape") setAt(null);
      }}
    >
      <svg width={all} height={top + height + foot} aria-hidden="true">
        <defs>
          {on
            .filter((s) => striped.includes(s.color))
            .map((s) => (
              <pattern
                key={s.key}
                id={id + s.key}
                width="6"
                height="6"
                patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)"
              >
                <rect width="6" height="6" fill={colorOf(s.color)} />
                <rect width="2" height="6" className={classes.stripe} />
              </pattern>
            ))}
        </defs>
        {ticks.map((n) => (
          <g key={n}>
            <line x1={left} x2={all} y1={y(n)} y2={y(n)} className={n === 0 ? classes.base : classes.grid} />
            <text x={left - 8} y={y(n) + 4} textAnchor="end">
              {short(n)}
            </text>
          </g>
        ))}
        {marks.map((m, i) => (
          <g key={m.x} transform={`translate(${left} 0)`}>
            {i > 0 && <line x1={m.x} x2={m.x} y1={top} y2={top + height} className={classes.day} />}
            {i > 0 && <line x1={m.x} x2={m.x} y1={top + height + 24} y2={top + height + 36} className={classes.base} />}
            {m.label && (
              <text x={m.label.x} y={top + height + 35} textAnchor="middle" className={classes.date}>
                {m.label.text}
              </text>
            )}
          </g>
        ))}
        {at !== null && <rect x={left + at * band} y={top} width={band} height={height} className={classes.chosen} />}
        {points.map((q, i) => {
          let sum = 0;
          return (
            <g key={q.at.getTime()} data-bin={i}>
              {on.map((s, k) => {
                const n = q[s.key];
                if (n <= 0) return null;
                const from = overlaid ? 0 : sum;
                sum += n;
                const inset = overlaid ? k * Math.min(5, thick / 6) : 0;
                const tall = Math.max(1, y(from) - y(from + n) - (overlaid || from === 0 ? 0 : gap));
                return (
                  <rect
                    key={s.key}
                    x={left + (i + 0.5) * band - thick / 2 + inset}
                    width={Math.max(1, thick - 2 * inset)}
                    y={Math.min(y(from + n), top + height - tall)}
                    height={tall}
                    fill={striped.includes(s.color) ? `url(#${id}${s.key})` : colorOf(s.color)}
                    data-series={s.key}
                  />
                );
              })}
            </g>
          );
        })}
        <g transform={`translate(${left} 0)`}>
          {xLabels(bins, unit, language, width, measure).map((l) => (
            <text key={l.x} x={l.x} y={top + height + 17} textAnchor="middle">
              {l.text}
            </text>
          ))}
        </g>
      </svg>
      {p && at !== null && (
        <div
          className={classes.tip}
          style={at < points.length / 2 ? { left: left + (at + 1) * band + 6 } : { right: all - left - at * band + 6 }}
        >
          <b>
            {binName(p, unit, language)}
            {p.open && <span className="muted"> {t.soFar}</span>}
          </b>
          <table>
            <tbody>
              {[...on].reverse().map((s) => (
                <tr key={s.key}>
                  <th>
                    <Swatch color={s.color} /> {s.label}
                  </th>
                  <td>{overlaid && p[s.key] === 0 ? "–" : text(p[s.key])}</td>
                  {!overlaid && <td className="muted">{percent(p[s.key], whole(p), language)}</td>}
                </tr>
              ))}
              {!overlaid && series.length > 1 && (
                <tr className={classes.total}>
                  <th>{t.all}</th>
                  <td>{text(whole(p))}</td>
                  <td />
                </tr>
              )}
            </tbody>
          </table>
        </div>
      )}
      <p className="hidden" role="status">
        {p && focused ? words(p) : ""}
      </p>
    </div>
  );
}
