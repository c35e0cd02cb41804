// What somebody is writing, kept in the browser until it is saved, so that a tab that is closed by mistake loses nothing.
import { useEffect, useRef, useState } from "react";

const prefix = "carillon.writing.";
const lasting = 14 * 86_400_000;
const pause = 400;

export interface Kept<T> {
  at: string;
  mark: string;
  value: T;
}

/** kept reads what is kept under a name; what is old is forgotten. */
export function kept<T>(name: string): Kept<T> | undefined {
  try {
    const all = Object.keys(localStorage).filter((k) => k.startsWith(prefix));
    for (const k of all) {
      const x = JSON.parse(localStorage.getItem(k) ?? "{}") as Partial<Kept<T>>;
      if (!x.at || Date.now() - Date.parse(x.at) > lasting) localStorage.removeItem(k);
    }
    const text = localStorage.getItem(prefix + name);
    return text ? (JSON.parse(text) as Kept<T>) : undefined;
  } catch {
    return undefined; // no storage, or something else in it
  }
}

/** forget ends the keeping of a name. */
export function forget(name: string): void {
  try {
    localStorage.removeItem(prefix + name);
  } catch {
    /* no storage */
  }
}

/** useKept keeps a value while keep holds: soon after each change, and at once when the page goes. mark says what it is a change of. It reports whether the value is kept. */
export function useKept<T>(name: string, value: T, mark: string, keep: boolean): boolean {
  const [done, setDone] = useState(false);
  const now = useRef({ value, mark, keep });
  now.current = { value, mark, keep };
  const pending = useRef<() => void>(() => {});
  useEffect(() => {
    const write = () => {
      if (!now.current.keep) return;
      try {
        localStorage.setItem(
          prefix + name,
          JSON.stringify({
            at: new Date().toISOString(),
            mark: now.current.mark,
            value: now.current.value,
          } satisfies Kept<T>),
        );
        setDone(true);
      } catch {
        setDone(false);
      }
    };
    if (!keep) {
      setDone(false);
      return;
    }
    const timer = setTimeout(write, pause);
    pending.current = write;
    return () => clearTimeout(timer);
  }, [name, value, mark, keep]);
  useEffect(() => {
    // what was written last is kept too when the page goes, or another one takes its place, before the pause is over
    const write = () => pending.current();
    const hidden = () => {
      if (document.hidden) write();
    };
    window.addEventListener("pagehide", write);
    document.addEventListener("visibilitychange", hidden);
    return () => {
      window.removeEventListener("pagehide", write);
      document.removeEventListener("visibilitychange", hidden);
      write();
    };
  }, []);
  return done;
}
