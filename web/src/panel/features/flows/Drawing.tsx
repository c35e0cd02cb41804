import { useEffect, useMemo, useRef } from "react";
import { useTexts } from "../../i18n";
import { icons, kindText } from "./Icons";
import { boxHeight, boxWidth, draw } from "./layout";
import { stepAt, summary } from "./model";
import { texts } from "./texts";
import type { Fault, Step } from "./types";

const most = 18; // characters of a summary in a box

/** Drawing shows the ways through a flow. It follows the list, which says the same to those who do not see it. */
export function Drawing({
  steps,
  chosen,
  current,
  faults,
  choose,
  names,
}: {
  steps: Step[];
  chosen: string;
  current?: string;
  faults: Fault[];
  choose?: (path: string) => void;
  names?: (s: Step) => string;
}) {
  const t = useTexts(texts);
  const d = useMemo(() => draw(steps), [steps]);
  const box = useRef<HTMLDivElement>(null);
  const marked = current ?? chosen;
  useEffect(() => {
    const b = d.boxes.find((x) => x.path === marked);
    const view = box.current;
    if (!b || !view) return;
    if (b.y < view.scrollTop + 20 || b.y + boxHeight > view.scrollTop + view.clientHeight - 20)
      view.scrollTo({ top: b.y - view.clientHeight / 2, behavior: "smooth" });
    if (b.x < view.scrollLeft || b.x + boxWidth > view.scrollLeft + view.clientWidth)
      view.scrollTo({ left: b.x + boxWidth / 2 - view.clientWidth / 2, behavior: "smooth" });
  }, [marked, d]);
  return (
    <div className="flow-drawing" ref={box} tabIndex={0} role="region" aria-label={t.drawing}>
      <svg width={d.width} height={d.height} viewBox={`0 0 ${d.width} ${d.height}`} aria-hidden="true">
        <defs>
          <marker id="flow-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0L8 4L0 8z" />
          </marker>
        </defs>
        {d.lines.map((l, i) => (
          <path
            key={i}
            className={l.back ? "flow-line back" : "flow-line"}
            d={l.d}
            markerEnd={l.back ? "url(#flow-tip)" : undefined}
          />
        ))}
        <g className="flow-start">
          <rect x={d.start.x - 32} y={d.start.y} width={64} height={28} rx={14} />
          <text x={d.start.x} y={d.start.y + 18} textAnchor="middle">
            {t.start}
          </text>
        </g>
        {d.ends.map((e, i) => (
          <circle key={i} className="flow-end" cx={e.x} cy={e.y} r={6} />
        ))}
        {d.labels.map((l, i) => (
          <g key={i} className="flow-label">
            <rect x={l.x - 16} y={l.y - 9} width={32} height={18} rx={9} />
            <text x={l.x} y={l.y + 4} textAnchor="middle">
              {t[l.text]}
            </text>
          </g>
        ))}
        {d.boxes.map((b) => {
          const s = stepAt(steps, b.path)!;
          const Icon = icons[b.kind];
          const text = (names?.(s) ?? summary(s)) || kindText(b.kind, t);
          return (
            <g
              key={b.path}
              className="flow-box"
              data-kind={b.kind}
              data-chosen={b.path === chosen ? "yes" : undefined}
              data-current={b.path === current ? "yes" : undefined}
              data-faulty={
                faults.some(
                  (f) =>
                    f.field === b.path ||
                    (f.field.startsWith(b.path + ".") && !/\.(then|else)\.\d/.test(f.field.slice(b.path.length))),
                )
                  ? "yes"
                  : undefined
              }
              onClick={choose && (() => choose(b.path))}
            >
              <title>{text}</title>
              <rect x={b.x} y={b.y} width={boxWidth} height={boxHeight} rx={8} />
              <Icon x={b.x + 10} y={b.y + 11} width={16} height={16} stroke={1.8} />
              <svg x={b.x + 34} y={b.y} width={boxWidth - 40} height={boxHeight}>
                <text x={0} y={24}>
                  {text.length > most ? text.slice(0, most - 1) + "…" : text}
                </text>
              </svg>
            </g>
          );
        })}
      </svg>
    </div>
  );
}
