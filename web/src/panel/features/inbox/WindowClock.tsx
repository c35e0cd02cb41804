import { IconClock, IconLock } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { fill, useLanguage, useTexts } from "../../i18n";
import { messageTexts as texts } from "./texts";
import type { ReplyWindow } from "./types";

const often = 15_000;

/** useLeft is how many milliseconds a window is still open, at most 0 when it is closed. */
function useLeft(w: ReplyWindow | undefined): number {
  const until = w ? Date.parse(w.until) : 0;
  const [now, setNow] = useState(() => Date.now());
  const left = until - now;
  useEffect(() => {
    if (until <= Date.now()) {
      setNow(Date.now());
      return;
    }
    setNow(Date.now());
    let timer: ReturnType<typeof setTimeout>;
    const tick = () => {
      setNow(Date.now());
      timer = setTimeout(tick, Math.max(100, Math.min(often, until - Date.now())));
    };
    timer = setTimeout(tick, Math.max(100, Math.min(often, until - Date.now())));
    return () => clearTimeout(timer);
  }, [until]);
  return left;
}

/** useClosed reports whether no reply may be sent any more. */
export function useClosed(w: ReplyWindow | undefined): boolean {
  return useLeft(w) <= 0;
}

/** remaining is a time in hours and minutes. */
export function remaining(ms: number, language: string): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  const unit = (n: number, name: "hour" | "minute") =>
    new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "short" }).format(n);
  const [h, m] = [Math.floor(minutes / 60), minutes % 60];
  return [h > 0 ? unit(h, "hour") : "", m > 0 || h === 0 ? unit(m, "minute") : ""].filter(Boolean).join(" ");
}

/** WindowClock counts down how long replies may be sent. */
export function WindowClock({ window: w }: { window?: ReplyWindow }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const left = useLeft(w);
  const tone = left <= 0 ? "closed" : left < 3_600_000 ? "soon" : "open";
  return (
    <span className="inbox-window" data-tone={tone} role="timer">
      {left <= 0 ? (
        <>
          <IconLock size={14} aria-hidden />
          {t.closed}
        </>
      ) : (
        <>
          <IconClock size={14} aria-hidden />
          {fill(t.left, { time: remaining(left, language) })}
        </>
      )}
    </span>
  );
}
