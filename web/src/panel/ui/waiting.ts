import { useEffect, useState, useSyncExternalStore } from "react";

const patience = 1500;

/** useSlow reports that something has been waited for longer than people wait without a word. */
export function useSlow(waits: boolean): boolean {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(() => setSlow(true), patience);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [waits]);
  return waits && slow;
}

function subscribe(changed: () => void): () => void {
  const events = ["online", "offline"];
  for (const e of events) window.addEventListener(e, changed);
  return () => {
    for (const e of events) window.removeEventListener(e, changed);
  };
}

/** useOnline reports whether the browser has a network. */
export function useOnline(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => navigator.onLine,
    () => true,
  );
}

/** useBack calls back when the browser is online again. */
export function useBack(back: () => void): void {
  useEffect(() => {
    window.addEventListener("online", back);
    return () => window.removeEventListener("online", back);
  }, [back]);
}
