import { useEffect, useRef } from "preact/hooks";
import type { TalkState } from "../../shared/voice/talk";
import { darker, luminance } from "../../shared/colour";

type Levels = () => { input: number; output: number };

/** loudness is a level as the ear has it, 0 to 1. */
export function loudness(level: number): number {
  return Math.min(1, Math.max(0, (20 * Math.log10(Math.max(level, 1e-5)) + 50) / 40));
}

/** Orb lives while somebody speaks. Who wants less motion gets it at rest. */
export function Orb({ state, size, levels }: { state: TalkState; size: number; levels: Levels }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const now = useRef(state);
  now.current = state;
  useEffect(() => {
    const c = canvas.current!;
    const g = c.getContext("2d");
    if (!g) return;
    const scale = Math.min(3, window.devicePixelRatio || 1);
    c.width = c.height = size * scale;
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    let frame = 0;
    let input = 0;
    let output = 0;
    let busy = 0;
    let turn = 0;
    let last = performance.now();
    const draw = (at: number) => {
      const l = levels();
      const step = Math.min(0.1, (at - last) / 1000);
      last = at;
      const ease = (from: number, to: number, fast: number) => from + (to - from) * Math.min(1, step * fast);
      input = ease(input, loudness(l.input), loudness(l.input) > input ? 22 : 6);
      output = ease(output, loudness(l.output), loudness(l.output) > output ? 22 : 6);
      busy = ease(
        busy,
        now.current === "thinking" || now.current === "connecting" || now.current === "reconnecting" ? 1 : 0,
        5,
      );
      turn += step * (0.35 + 1.5 * busy + 1.2 * output);
      paint(g, size, scale, { input, output, busy, turn, breath: Math.sin(at / 1400) });
    };
    const loop = (at: number) => {
      draw(at);
      frame = requestAnimationFrame(loop);
    };
    const begin = () => {
      cancelAnimationFrame(frame);
      if (still.matches) paint(g, size, scale, { input: 0, output: 0.25, busy: 0, turn: 0.6, breath: 0 });
      else frame = requestAnimationFrame(loop);
    };
    begin();
    still.addEventListener("change", begin);
    const dressed = new MutationObserver(begin);
    dressed.observe(document.documentElement, { attributes: true, attributeFilter: ["style", "data-theme"] });
    return () => {
      cancelAnimationFrame(frame);
      still.removeEventListener("change", begin);
      dressed.disconnect();
    };
  }, [size, levels]);
  return <canvas ref={canvas} class="orb" style={{ width: size + "px", height: size + "px" }} aria-hidden="true" />;
}

interface Pose {
  input: number;
  output: number;
  busy: number;
  turn: number;
  breath: number;
}

function paint(g: CanvasRenderingContext2D, size: number, scale: number, p: Pose): void {
  const style = getComputedStyle(document.documentElement);
  const brand = /^#[0-9a-f]{6}$/i.test(style.getPropertyValue("--brand").trim())
    ? style.getPropertyValue("--brand").trim()
    : "#2f5bd7";
  const bright = mix(brand, "#ffffff", luminance(brand) > 0.5 ? 0.15 : 0.45);
  const deep = luminance(brand) > 0.5 ? darker(brand) : mix(brand, "#000000", 0.22);
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, size, size);
  const middle = size / 2;
  const radius = size * (0.31 + 0.012 * p.breath + 0.035 * p.output);
  // The person's voice: rings that widen.
  for (const [n, share] of [
    [2, 0.1],
    [1, 0.18],
  ] as const) {
    g.globalAlpha = share * (0.55 + 0.45 * p.input);
    g.fillStyle = brand;
    blob(
      g,
      middle,
      radius * (1 + n * (0.09 + 0.14 * p.input)),
      0.012 + 0.03 * p.input,
      p.turn * (n === 1 ? 0.7 : -0.5),
      n + 2,
    );
  }
  g.globalAlpha = 1;
  const shade = g.createRadialGradient(
    middle - radius * 0.4,
    middle - radius * 0.5,
    radius * 0.1,
    middle,
    middle,
    radius * 1.25,
  );
  shade.addColorStop(0, bright);
  shade.addColorStop(0.55, brand);
  shade.addColorStop(1, deep);
  g.fillStyle = shade;
  blob(g, middle, radius, 0.015 + 0.07 * p.output, p.turn, 3);
  // The agent's voice, and its thinking: light that turns inside.
  g.save();
  g.beginPath();
  g.arc(middle, middle, radius * 0.97, 0, 2 * Math.PI);
  g.clip();
  for (let n = 0; n < 3; n++) {
    const a = p.turn * (1 + 0.3 * n) + n * 2.1;
    const far = radius * (0.32 + 0.18 * p.output);
    const x = middle + Math.cos(a) * far;
    const y = middle + Math.sin(a * 0.9 + n) * far;
    const light = g.createRadialGradient(x, y, 0, x, y, radius * 0.75);
    light.addColorStop(0, "rgb(255 255 255 / " + (0.1 + 0.14 * p.output + 0.1 * p.busy) + ")");
    light.addColorStop(1, "rgb(255 255 255 / 0)");
    g.fillStyle = light;
    g.fillRect(0, 0, size, size);
  }
  g.restore();
}

/** blob is a circle that is not quite one. */
function blob(
  g: CanvasRenderingContext2D,
  middle: number,
  radius: number,
  wave: number,
  turn: number,
  bumps: number,
): void {
  g.beginPath();
  for (let i = 0; i <= 72; i++) {
    const a = (i / 72) * 2 * Math.PI;
    const r = radius * (1 + wave * (Math.sin(bumps * a + turn * 2) + 0.5 * Math.sin((bumps + 2) * a - turn * 3)));
    g.lineTo(middle + Math.cos(a) * r, middle + Math.sin(a) * r);
  }
  g.closePath();
  g.fill();
}

function mix(a: string, b: string, share: number): string {
  const part = (at: number) =>
    Math.round(parseInt(a.slice(at, at + 2), 16) * (1 - share) + parseInt(b.slice(at, at + 2), 16) * share);
  return "#" + [1, 3, 5].map((at) => part(at).toString(16).padStart(2, "0")).join("");
}

/** Meter shows how loud the microphone is. */
export function Meter({ levels }: { levels: Levels }) {
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let frame = 0;
    const loop = () => {
      const loud = loudness(levels().input);
      box.current?.style.setProperty("--level", loud.toFixed(2));
      frame = requestAnimationFrame(loop);
    };
    loop();
    return () => cancelAnimationFrame(frame);
  }, [levels]);
  return (
    <span ref={box} class="meter" aria-hidden="true">
      <i />
      <i />
      <i />
      <i />
      <i />
    </span>
  );
}
