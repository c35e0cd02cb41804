import "uplot/dist/uPlot.min.css";
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { fill, useLanguage, useTexts } from "../../i18n";
import { number } from "../../format";
import { compact, when } from "./format";
import { texts } from "./texts";

/** A line, distinct by its width and dashes as well as its color. */
export interface ChartLine {
  key: string;
  label: string;
  token: string;
  width: number;
  dash?: number[];
  filled?: boolean;
}

type ChartPoint = { at: Date } & Record<string, number | Date>;

const height = 260;
const font = "12px system-ui, sans-serif";

function colour(token: string): string {
  return (
    getComputedStyle(document.documentElement).getPropertyValue(token).trim() ||
    getComputedStyle(document.body).getPropertyValue(token).trim()
  );
}

/** Chart draws the series. The arrow keys move along it; what it shows there is read out. */
export default function Chart({
  points,
  unit,
  lines,
}: {
  points: ChartPoint[];
  unit: "hour" | "day";
  lines: ChartLine[];
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const [theme, setTheme] = useState(() => document.documentElement.dataset.theme);
  const shown = useRef(points);
  shown.current = points;

  useEffect(() => {
    const seen = new MutationObserver(() => setTheme(document.documentElement.dataset.theme));
    seen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => seen.disconnect();
  }, []);
  useEffect(() => {
    const el = box.current!;
    const label = (i: number) => (shown.current[i] ? when(shown.current[i].at, unit, language) : "");
    const axis = {
      stroke: colour("--muted"),
      grid: { stroke: colour("--border"), width: 1 },
      ticks: { show: false },
      font,
    };
    const u = new uPlot(
      {
        width: el.clientWidth,
        height,
        padding: [12, () => (shown.current.length ? halfWidth(label(shown.current.length - 1)) : 12), 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
        scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(4, max * 1.08)] } },
        axes: [
          {
            ...axis,
            grid: { show: false },
            space: 70,
            incrs: [1, 2, 3, 6, 12, 24, 48, 96],
            values: (_, at) => at.map(label),
          },
          {
            ...axis,
            size: 52,
            space: 44,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 5e6, 1e7],
            values: (_, at) => at.map((n) => compact(n, language)),
          },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            label: line.key,
            stroke: colour(line.token),
            width: line.width,
            dash: line.dash,
            points: { show: shown.current.length === 1 },
            fill: line.filled ? colour(line.token) + "14" : undefined,
          })),
        ],
        hooks: { setCursor: [(p) => setAt(p.cursor.idx ?? null)] },
      },
      dataOf(shown.current, lines),
      el,
    );
    plot.current = u;
    const resized = new ResizeObserver(() => u.setSize({ width: el.clientWidth, height }));
    resized.observe(el);
    return () => {
      resized.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [theme, language, unit, points.length]);
  useEffect(() => {
    plot.current?.setData(dataOf(points, lines));
  }, [points]);

  const move = (to: number | null) => {
    const u = plot.current;
    if (!u) return;
    if (to === null) {
      u.setCursor({ left: -10, top: -10 });
      return;
    }
    u.setCursor({ left: u.valToPos(Math.max(0, Math.min(points.length - 1, to)), "x"), top: 10 });
  };
  const p = at === null ? undefined : points[at];
  return (
    <div className="chart">
      <ul className="chart-legend">
        {lines.map((line) => (
          <li key={line.key}>
            <svg width="22" height="8" aria-hidden="true">
              <line
                x1="0"
                x2="22"
                y1="4"
                y2="4"
                stroke={`var(${line.token})`}
                strokeWidth={line.width + 0.5}
                strokeDasharray={line.dash?.join(" ")}
              />
            </svg>
            {line.label}
            {p && <b>{number(Number(p[line.key]), language)}</b>}
          </li>
        ))}
        <li className="chart-at">{p ? when(p.at, unit, language, true) : ""}</li>
      </ul>
      <div
        ref={box}
        className="chart-box"
        tabIndex={0}
        role="application"
        aria-roledescription={t.chart}
        aria-label={t.chartHelp}
        onKeyDown={(e) => {
          const to = {
            ArrowRight: (at ?? -1) + 1,
            ArrowLeft: (at ?? points.length) - 1,
            Home: 0,
            End: points.length - 1,
          }[e.key];
          if (to !== undefined) {
            e.preventDefault();
            move(to);
          } else if (e.key === "Escape") move(null);
        }}
        onBlur={() => move(null)}
      />
      <p className="hidden" role="status">
        {p && document.activeElement === box.current
          ? `${when(p.at, unit, language, true)}: ${lines.map((line) => fill("{n} {what}", { n: number(Number(p[line.key]), language), what: line.label })).join(", ")}`
          : ""}
      </p>
    </div>
  );
}

/** halfWidth is the space that a label needs to the right of its place. */
function halfWidth(label: string): number {
  const canvas = document.createElement("canvas").getContext("2d")!;
  canvas.font = font;
  return Math.max(12, Math.ceil(canvas.measureText(label).width / 2) + 2);
}

function dataOf(points: ChartPoint[], lines: ChartLine[]): uPlot.AlignedData {
  return [points.map((_, i) => i), ...lines.map((line) => points.map((p) => Number(p[line.key])))];
}
