import { useSyncExternalStore } from "react";
import { absolute, relative } from "../format";
import { useLanguage } from "../i18n";

let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    listeners.forEach((l) => l());
  }, 20_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** useNow is the time, some seconds old at most. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** agoWidth is that of a column with nothing but an Ago: "hace 11 minutos" fits. */
export const agoWidth = 148;

/** Ago is how long ago something was, and when exactly under the pointer. */
export function Ago({ at, none }: { at: string | null | undefined; none?: string }) {
  const language = useLanguage();
  const current = useNow();
  if (!at) return <span className="muted">{none ?? "–"}</span>;
  return (
    <time dateTime={at} title={absolute(at, language)} className="nowrap">
      {relative(at, language, Math.max(current, Date.now() - 20_000))}
    </time>
  );
}
