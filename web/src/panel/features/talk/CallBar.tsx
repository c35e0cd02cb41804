import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { IconMicrophone, IconMicrophoneOff, IconPhoneOff, IconRobot, IconVolume } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { fill, useTexts } from "../../i18n";
import { askForMicrophone, hangUp, hear, mute, toAgent } from "./call";
import type { Call } from "./current";
import { waited } from "./rings";
import { texts } from "./texts";

/** CallBar is the talk that goes on, at the top of every page. */
export function CallBar({ call, show }: { call: Call; show: () => void }) {
  const t = useTexts(texts);
  const { mic } = call;
  const problem =
    mic.problem &&
    t[({ refused: "refused", missing: "missing", busy: "busyMic", unsupported: "unsupported" } as const)[mic.problem]];
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    // the pages make room for it
    const root = document.documentElement;
    const size = new ResizeObserver(() => root.style.setProperty("--call-bar", bar.current!.offsetHeight + "px"));
    size.observe(bar.current!);
    return () => {
      size.disconnect();
      root.style.removeProperty("--call-bar");
    };
  }, []);
  const silent = mic.muted ? t.unmute : t.mute;
  return (
    <section ref={bar} className="call" aria-label={fill(t.withYou, { name: call.name })} data-phase={call.phase}>
      <div className="call-line">
        <button type="button" className="call-who" onClick={show} title={t.open}>
          <b>{call.name}</b>
          <Time call={call} />
        </button>
        <Level label={t.them} read={() => call.level.output} />
        <span className="call-you" data-muted={mic.on && !mic.muted ? "no" : "yes"}>
          <Tooltip label={silent}>
            <ActionIcon
              variant={mic.muted ? "filled" : "default"}
              color={mic.muted ? "red" : undefined}
              size={36}
              disabled={!mic.on}
              aria-label={silent}
              aria-pressed={mic.muted}
              onClick={() => mute(!mic.muted)}
            >
              {mic.on && !mic.muted ? <IconMicrophone size={18} /> : <IconMicrophoneOff size={18} />}
            </ActionIcon>
          </Tooltip>
          <Level label={t.me} read={() => (mic.muted ? 0 : call.level.input)} />
        </span>
        <span className="call-gap" />
        {call.blocked && (
          <Button size="sm" variant="default" leftSection={<IconVolume size={16} />} onClick={hear}>
            {t.hear}
          </Button>
        )}
        {call.agent && (
          <Tooltip label={t.toAgent}>
            <Button
              size="sm"
              variant="default"
              className="call-agent"
              aria-label={t.toAgent}
              leftSection={<IconRobot size={16} />}
              onClick={() => void toAgent()}
            >
              <span className="call-word">{t.toAgent}</span>
            </Button>
          </Tooltip>
        )}
        <Button size="sm" color="red" leftSection={<IconPhoneOff size={16} />} onClick={hangUp}>
          {t.hangUp}
        </Button>
      </div>
      {problem && (
        <p className="call-problem" role="alert">
          {problem}{" "}
          {mic.problem !== "unsupported" && (
            <button type="button" onClick={askForMicrophone}>
              {t.askAgain}
            </button>
          )}
        </p>
      )}
    </section>
  );
}

function Time({ call }: { call: Call }) {
  const t = useTexts(texts);
  const [now, tick] = useState(Date.now);
  useEffect(() => {
    const i = setInterval(() => tick(Date.now()), 500);
    return () => clearInterval(i);
  }, []);
  if (call.phase !== "talking")
    return <span role="status">{call.phase === "connecting" ? t.connecting : t.reconnecting}</span>;
  return (
    <span role="timer" aria-live="off">
      {waited(now - call.since)}
    </span>
  );
}

const bars = [0.5, 0.85, 1, 0.7];

/** Level moves with how loud somebody is. */
function Level({ label, read }: { label: string; read: () => number }) {
  const at = useRef<HTMLSpanElement>(null);
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    let frame = 0;
    let shown = 0;
    const draw = () => {
      shown = Math.max(Math.min(1, latest.current() * 2.5), shown * 0.86);
      at.current?.style.setProperty("--level", shown.toFixed(2));
      frame = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <span ref={at} className="level" role="img" aria-label={label}>
      {bars.map((b) => (
        <i key={b} style={{ "--bar": b } as React.CSSProperties} />
      ))}
    </span>
  );
}
