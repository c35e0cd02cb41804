// The drawing of a flow: where each step stands, and the lines between them.
import { kindOf, type Kind } from "./model";
import type { Step } from "./types";

export interface Box {
  path: string;
  kind: Kind;
  x: number;
  y: number;
}
export interface Line {
  d: string;
  back?: boolean;
}
export interface Label {
  x: number;
  y: number;
  text: "yes" | "no";
}
/** Gap is a place on a line where a step can be added. */
export interface Gap {
  x: number;
  y: number;
  list: string;
  index: number;
}
export interface Drawn {
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
  labels: Label[];
  gaps: Gap[];
  ends: { x: number; y: number }[];
  start: { x: number; y: number };
}

export const boxWidth = 188;
export const boxHeight = 52;
const gap = 34; // between a step and the next
const fork = 62; // between a condition and its branches
const aside = 20; // between two branches
const empty = 72; // the width of a branch without steps
const margin = 14;
const radius = 8;

/** widthOf is how wide a list of steps is drawn. */
function widthOf(steps: Step[]): number {
  return steps.reduce(
    (w, s) => Math.max(w, kindOf(s) === "if" ? widthOf(s.then ?? []) + widthOf(s.else ?? []) + aside : boxWidth),
    steps.length ? boxWidth : empty,
  );
}

/** elbow is a line from one place down to another, with round corners, which turns at the height `at`. */
function elbow(x1: number, y1: number, x2: number, y2: number, at: number): string {
  if (x1 === x2) return `M${x1} ${y1}V${y2}`;
  const r = Math.min(radius, Math.abs(x2 - x1) / 2, Math.abs(at - y1), Math.abs(y2 - at));
  const side = x2 > x1 ? 1 : -1;
  return `M${x1} ${y1}V${at - r}Q${x1} ${at} ${x1 + side * r} ${at}H${x2 - side * r}Q${x2} ${at} ${x2} ${at + r}V${y2}`;
}

/** draw places the steps of a flow. */
export function draw(steps: Step[]): Drawn {
  const out: Drawn = {
    width: 0,
    height: 0,
    boxes: [],
    lines: [],
    labels: [],
    gaps: [],
    ends: [],
    start: { x: 0, y: 0 },
  };
  const inner = widthOf(steps);
  const cx = margin + inner / 2;
  out.start = { x: cx, y: margin };
  const byId = new Map<string, Box>();
  const jumps: { from: Box; to: string }[] = [];

  /** place draws a list whose first step begins at y, and returns where it ends and whether the flow goes on there. */
  const place = (list: string, all: Step[], x: number, y: number): { y: number; open: boolean } => {
    let open = true;
    all.forEach((s, i) => {
      if (i > 0) {
        if (open) {
          out.lines.push({ d: `M${x} ${y}V${y + gap}` });
          out.gaps.push({ x, y: y + gap / 2, list, index: i });
        }
        y += gap;
      }
      const kind = kindOf(s);
      const box: Box = { path: `${list}.${i}`, kind, x: x - boxWidth / 2, y };
      out.boxes.push(box);
      if (s.id) byId.set(s.id, box);
      y += boxHeight;
      open = kind !== "goto" && kind !== "end" && kind !== "handoff";
      if (kind === "goto" && s.goto) jumps.push({ from: box, to: s.goto });
      if (kind !== "if") return;
      const widths = [widthOf(s.then ?? []), widthOf(s.else ?? [])] as const;
      const total = widths[0] + widths[1] + aside;
      const xs = [x - total / 2 + widths[0] / 2, x + total / 2 - widths[1] / 2] as const;
      const begin = y + fork;
      const ends = (["then", "else"] as const).map((b, n) => {
        const turn = y + fork / 3;
        out.lines.push({ d: elbow(x, y, xs[n]!, begin, turn) });
        out.labels.push({ x: xs[n]!, y: turn, text: n === 0 ? "yes" : "no" });
        out.gaps.push({ x: xs[n]!, y: begin - fork / 4, list: `${list}.${i}.${b}`, index: 0 });
        return place(`${list}.${i}.${b}`, s[b] ?? [], xs[n]!, begin);
      });
      const bottom = Math.max(ends[0]!.y, ends[1]!.y) + gap + gap / 2;
      ends.forEach((e, n) => {
        if (!e.open) return;
        const inside = s[n === 0 ? "then" : "else"] ?? [];
        out.lines.push({ d: elbow(xs[n]!, e.y, x, bottom, bottom - gap / 4) });
        if (inside.length)
          out.gaps.push({
            x: xs[n]!,
            y: e.y + gap / 2,
            list: `${list}.${i}.${n === 0 ? "then" : "else"}`,
            index: inside.length,
          });
      });
      open = ends.some((e) => e.open);
      y = bottom;
    });
    return { y, open };
  };

  const top = margin + 28 + gap;
  out.lines.push({ d: `M${cx} ${margin + 28}V${top}` });
  out.gaps.push({ x: cx, y: top - gap / 2, list: "steps", index: 0 });
  const last = place("steps", steps, cx, top);
  let height = last.y;
  if (last.open) {
    if (steps.length) {
      out.lines.push({ d: `M${cx} ${last.y}V${last.y + gap - 6}` });
      out.gaps.push({ x: cx, y: last.y + gap / 2 - 2, list: "steps", index: steps.length });
    }
    out.ends.push({ x: cx, y: last.y + gap });
    height += gap + 6;
  }
  let right = margin + inner;
  jumps.forEach(({ from, to }, n) => {
    const target = byId.get(to);
    if (!target) return;
    const side = margin + inner + 12 + n * 8;
    right = Math.max(right, side);
    const [y1, y2] = [from.y + boxHeight / 2, target.y + boxHeight / 2];
    const up = y2 < y1 ? -1 : 1;
    const r = Math.min(radius, Math.abs(y2 - y1) / 2);
    out.lines.push({
      d: `M${from.x + boxWidth} ${y1}H${side - r}Q${side} ${y1} ${side} ${y1 + up * r}V${y2 - up * r}Q${side} ${y2} ${side - r} ${y2}H${target.x + boxWidth + 5}`,
      back: true,
    });
  });
  out.width = right + margin;
  out.height = height + margin;
  return out;
}
