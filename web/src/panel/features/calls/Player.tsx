import { ActionIcon, SegmentedControl } from "@mantine/core";
import { IconPlayerPauseFilled, IconPlayerPlayFilled } from "@tabler/icons-react";
import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type Ref,
} from "react";
import { address } from "../../api";
import { number } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { listShortcuts } from "../../shell/Shortcuts";
import { writing } from "../../ui/keys";
import { Note } from "../../ui/parts";
import { clock } from "./format";
import { pageTexts } from "./texts";
import type { Call } from "./types";
import { playing, readWave, type Wave } from "./wave";

export interface Playing {
  play: (from: number) => void;
}

const speeds = ["1", "1.25", "1.5", "2"];
const step = 5; // seconds an arrow key moves
const bar = 3; // pixels of a bar and the gap behind it

/** Player plays the recording of a call, whose shape is drawn. onTime gets where it is, undefined before it was first played. */
export function Player({ call: c, onTime, ref }: { call: Call; onTime: (seconds: number) => void; ref: Ref<Playing> }) {
  const p = useTexts(pageTexts);
  const language = useLanguage();
  const audio = useRef<HTMLAudioElement>(null);
  const [on, setOn] = useState(false);
  const [at, setAt] = useState(0);
  const [length, setLength] = useState(c.duration_s ?? 0);
  const [speed, setSpeed] = useState("1");
  const [broken, setBroken] = useState(false);
  const source = address(`/calls/${c.call_id}/recording`);
  const { wave, lost } = useWave(source);
  const move = useCallback(
    (to: number) => {
      const a = audio.current;
      if (!a) return;
      a.currentTime = Math.max(0, Math.min(to, Number.isFinite(a.duration) ? a.duration : to));
      setAt(a.currentTime);
      onTime(a.currentTime);
    },
    [onTime],
  );
  const toggle = useCallback(() => {
    const a = audio.current;
    if (a) void (a.paused ? a.play().catch(() => setBroken(true)) : a.pause());
  }, []);
  useEffect(
    () =>
      listShortcuts(p.recording, [
        { keys: ["Space"], text: p.keyPlay },
        { keys: ["←", "→"], text: p.keyMove },
      ]),
    [p],
  );
  useImperativeHandle(
    ref,
    () => ({
      play: (from) => {
        move(from);
        void audio.current?.play().catch(() => setBroken(true));
      },
    }),
    [move],
  );
  useEffect(() => {
    if (audio.current) audio.current.playbackRate = Number(speed);
  }, [speed]);
  useEffect(() => {
    // the time that the browser reports is some 250 ms old
    if (!on) return;
    let frame = 0;
    const tick = () => {
      const now = audio.current?.currentTime ?? 0;
      setAt(now);
      onTime(now);
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [on, onTime]);
  useEffect(() => {
    const key = (e: globalThis.KeyboardEvent) => {
      if (
        e.key !== " " ||
        e.ctrlKey ||
        e.metaKey ||
        e.altKey ||
        writing(e.target) ||
        (e.target as HTMLElement).closest?.("button, a, summary, [role=dialog], [role=slider], [role=radiogroup]")
      )
        return;
      e.preventDefault();
      toggle();
    };
    const arrows = (e: globalThis.KeyboardEvent) => {
      if (
        (e.key !== "ArrowLeft" && e.key !== "ArrowRight") ||
        e.ctrlKey ||
        e.metaKey ||
        e.altKey ||
        writing(e.target) ||
        (e.target as HTMLElement).closest?.("[role=dialog], [role=slider], [role=radiogroup], .calls-speed")
      )
        return;
      move((audio.current?.currentTime ?? 0) + (e.key === "ArrowLeft" ? -step : step));
    };
    window.addEventListener("keydown", key);
    window.addEventListener("keydown", arrows);
    return () => {
      window.removeEventListener("keydown", key);
      window.removeEventListener("keydown", arrows);
    };
  }, [toggle, move]);
  return (
    <div className="calls-player">
      <audio
        ref={audio}
        src={source}
        preload="metadata"
        onPlay={() => setOn(true)}
        onPause={() => setOn(false)}
        onEnded={() => setOn(false)}
        onError={() => setBroken(true)}
        onLoadedMetadata={(e) => {
          if (Number.isFinite(e.currentTarget.duration)) setLength(e.currentTarget.duration);
          e.currentTarget.playbackRate = Number(speed);
        }}
      />
      {broken && (
        <Note tone="danger">
          <p>{p.noSound}</p>
        </Note>
      )}
      <div className="calls-player-line">
        <ActionIcon size={40} radius={20} aria-label={on ? p.pause : p.play} onClick={toggle}>
          {on ? <IconPlayerPauseFilled size={18} /> : <IconPlayerPlayFilled size={18} />}
        </ActionIcon>
        <Shape
          wave={wave}
          at={at}
          length={length}
          theirs={(seconds) => c.turns[playing(c.turns, seconds)]?.author === "visitor"}
          marks={c.turns
            .filter((x) => x.author === "visitor" && x.offset_ms !== undefined)
            .map((x) => x.offset_ms! / 1000)}
          move={move}
          toggle={toggle}
        />
      </div>
      <div className="calls-player-line calls-player-foot">
        <span className="small">
          <span data-time>{clock(at)}</span> <span className="muted">/ {clock(Math.round(length))}</span>
        </span>
        <span className="small muted calls-lanes" role="status">
          {lost ? (
            p.noShape
          ) : !wave ? (
            p.shapeLoads
          ) : wave.lanes.length === 2 ? (
            <>
              <span data-side="them">{c.name || p.you}</span>
              <span data-side="us">{p.ourSide}</span>
            </>
          ) : null}
        </span>
        <SegmentedControl
          className="calls-speed"
          size="xs"
          aria-label={p.speed}
          value={speed}
          onChange={setSpeed}
          data={speeds.map((s) => ({ value: s, label: number(Number(s), language) + "×" }))}
        />
      </div>
    </div>
  );
}

/** useWave is the shape of a recording as it arrives; lost, that it could not be read. */
function useWave(source: string): { wave: Wave | undefined; lost: boolean } {
  const [wave, setWave] = useState<Wave>();
  const [lost, setLost] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    readWave(source, 1200, stop.signal, (w) => setWave(w.lanes.length > 0 ? w : undefined)).catch(() =>
      setLost(!stop.signal.aborted),
    );
    return () => stop.abort();
  }, [source]);
  return { wave, lost };
}

/** Shape is how loud both sides are along the recording. A click, or the arrow keys, move in it. */
function Shape({
  wave,
  at,
  length,
  marks,
  theirs,
  move,
  toggle,
}: {
  wave: Wave | undefined;
  at: number;
  length: number;
  marks: number[];
  theirs: (seconds: number) => boolean;
  move: (to: number) => void;
  toggle: () => void;
}) {
  const p = useTexts(pageTexts);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [dark, setDark] = useState(0);
  useEffect(() => {
    const el = canvas.current!;
    const size = new ResizeObserver(() => setWidth(el.clientWidth));
    size.observe(el);
    const theme = new MutationObserver(() => setDark((n) => n + 1));
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      size.disconnect();
      theme.disconnect();
    };
  }, []);
  useEffect(() => {
    if (canvas.current && width > 0)
      draw(
        canvas.current,
        width,
        wave,
        length > 0 ? at / length : 0,
        length > 0 ? marks.map((m) => m / length) : [],
        (part) => theirs(part * length),
      );
  }, [width, wave, at, length, marks, dark]);
  const point = (e: PointerEvent<HTMLDivElement>) => {
    const box = e.currentTarget.getBoundingClientRect();
    move(((e.clientX - box.left) / box.width) * length);
  };
  const key = (e: KeyboardEvent) => {
    const to = {
      ArrowLeft: at - step,
      ArrowDown: at - step,
      ArrowRight: at + step,
      ArrowUp: at + step,
      PageDown: at - 30,
      PageUp: at + 30,
      Home: 0,
      End: length,
    }[e.key];
    if (to !== undefined) {
      e.preventDefault();
      move(to);
    } else if (e.key === " ") {
      e.preventDefault();
      toggle();
    }
  };
  return (
    <div
      className="calls-shape"
      role="slider"
      tabIndex={0}
      aria-label={p.position}
      aria-valuemin={0}
      aria-valuemax={Math.round(length)}
      aria-valuenow={Math.round(at)}
      aria-valuetext={`${clock(at)} ${p.of} ${clock(Math.round(length))}`}
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        point(e);
      }}
      onPointerMove={(e) => {
        if (e.buttons === 1) point(e);
      }}
      onKeyDown={key}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}

/**
 * draw draws the shape: the person in one colour and the agent in another, one above the other if the recording has them
 * apart, and marks where the person spoke or pressed a key.
 */
function draw(
  canvas: HTMLCanvasElement,
  width: number,
  wave: Wave | undefined,
  played: number,
  marks: number[],
  theirs: (part: number) => boolean,
): void {
  const height = canvas.clientHeight;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const g = canvas.getContext("2d");
  if (!g) return;
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(name).trim();
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  const bars = Math.floor(width / bar);
  const top = 8;
  const lanes: (Float32Array | undefined)[] = wave?.lanes ?? [undefined];
  const tall = (height - top) / lanes.length;
  lanes.forEach((peaks, lane) => {
    const middle = top + (lane + 0.5) * tall;
    const loudest = peaks?.reduce((a, b) => Math.max(a, b), 0.05) ?? 1;
    for (let i = 0; i < bars; i++) {
      let peak = 0;
      if (peaks)
        for (
          let j = Math.floor((i / bars) * peaks.length);
          j <= Math.min(wave!.known - 1, Math.floor(((i + 1) / bars) * peaks.length) - 1);
          j++
        )
          peak = Math.max(peak, peaks[j]!);
      const half = Math.max(1, (peak / loudest) * (tall / 2 - 1));
      const part = (i + 0.5) / bars;
      const person = lanes.length === 2 ? lane === 0 : theirs(part);
      if (part <= played) g.fillStyle = color(person ? "--ok" : "--accent");
      else g.fillStyle = color(person ? "--wave-person" : "--wave");
      g.beginPath();
      g.roundRect(i * bar, middle - half, bar - 1, half * 2, 1);
      g.fill();
    }
  });
  g.fillStyle = color("--ok");
  for (const m of marks) {
    g.beginPath();
    g.arc(Math.min(width - 3, Math.max(3, m * width)), 3, 2.5, 0, 2 * Math.PI);
    g.fill();
  }
  g.fillStyle = color("--accent");
  g.fillRect(Math.min(width - 2, Math.max(0, played * width - 1)), top, 2, height - top);
}
