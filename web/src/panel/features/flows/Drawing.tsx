import { ActionIcon } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useEffect, useMemo, useRef } from "react";
import { fill, useTexts } from "../../i18n";
import { AddStep } from "./AddStep";
import styles from "./drawing.module.css";
import { icons, kindText } from "./Icons";
import { boxHeight, boxWidth, draw } from "./layout";
import { faultsAt, numberOf, stepAt, summary, type Kind } from "./model";
import { texts } from "./texts";
import type { Fault, Step } from "./types";

/** Drawing shows the paths through a flow. The list has the same steps and actions for the keyboard and for screen readers. */
export function Drawing({
  steps,
  chosen,
  current,
  faults,
  choose,
  add,
  remove,
  names,
}: {
  steps: Step[];
  chosen: string;
  current?: string;
  faults: Fault[];
  choose?: (path: string) => void;
  add?: (kind: Kind, list: string, index: number) => void;
  remove?: (path: string) => void;
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
  const chosenBox = remove && d.boxes.find((b) => b.path === chosen);
  return (
    <div className={styles.drawing} data-drawing="" ref={box} tabIndex={0} role="region" aria-label={t.drawing}>
      <div className={styles.sheet} style={{ width: d.width, height: d.height }}>
        <svg width={d.width} height={d.height} viewBox={`0 0 ${d.width} ${d.height}`} aria-hidden="true">
          <defs>
            <marker id="flow-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path className={styles.tip} d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          {d.lines.map((l, i) => (
            <path
              key={i}
              className={styles.line}
              data-back={l.back ? "yes" : undefined}
              d={l.d}
              markerEnd={l.back ? "url(#flow-tip)" : undefined}
            />
          ))}
          <g className={styles.start}>
            <rect x={d.start.x - 32} y={d.start.y} width={64} height={28} rx={14} />
            <text x={d.start.x} y={d.start.y + 18} textAnchor="middle">
              {t.start}
            </text>
          </g>
          {d.ends.map((e, i) => (
            <circle key={i} className={styles.end} cx={e.x} cy={e.y} r={6} />
          ))}
          {d.labels.map((l, i) => (
            <g key={i} className={styles.label}>
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
                className={styles.box}
                data-box={b.path}
                data-kind={b.kind}
                data-chosen={b.path === chosen ? "yes" : undefined}
                data-current={b.path === current ? "yes" : undefined}
                data-faulty={faultsAt(faults, b.path).length ? "yes" : undefined}
                onClick={choose && (() => choose(b.path))}
              >
                <title>{text}</title>
                <rect x={b.x} y={b.y} width={boxWidth} height={boxHeight} rx={8} />
                <Icon x={b.x + 10} y={b.y + boxHeight / 2 - 8} width={16} height={16} stroke={1.8} />
                <foreignObject x={b.x + 34} y={b.y} width={boxWidth - 42} height={boxHeight}>
                  <div className={styles.text}>
                    <span>{text}</span>
                  </div>
                </foreignObject>
              </g>
            );
          })}
        </svg>
        {add &&
          d.gaps.map((g) => (
            <AddStep key={`${g.list}.${g.index}`} add={(kind) => add(kind, g.list, g.index)}>
              <ActionIcon
                className={styles.add}
                style={{ left: g.x, top: g.y }}
                variant="default"
                size={24}
                radius="xl"
                tabIndex={-1}
                aria-label={fill(t.addBefore, { n: numberOf(`${g.list}.${g.index}`, t.yes, t.no) })}
              >
                <IconPlus size={13} />
              </ActionIcon>
            </AddStep>
          ))}
        {chosenBox && (
          <ActionIcon
            className={styles.remove}
            style={{ left: chosenBox.x + boxWidth, top: chosenBox.y }}
            variant="default"
            size={24}
            radius="xl"
            tabIndex={-1}
            aria-label={fill(t.removeStep, { n: numberOf(chosenBox.path, t.yes, t.no) })}
            onClick={() => remove(chosenBox.path)}
          >
            <IconTrash size={13} />
          </ActionIcon>
        )}
      </div>
    </div>
  );
}
