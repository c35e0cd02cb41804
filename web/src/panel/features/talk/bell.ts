// The ring: made of tones, no file. Of several pages of one browser a single one rings.
import { useSyncExternalStore } from "react";

const key = "carillon.inbox.ring";
const listeners = new Set<() => void>();
let on = stored();

function stored(): boolean {
  try {
    return localStorage.getItem(key) !== "off";
  } catch {
    return true;
  }
}

export function setBell(to: boolean): void {
  on = to;
  try {
    localStorage.setItem(key, to ? "on" : "off");
  } catch {
    /* for the life of the page */
  }
  listeners.forEach((l) => l());
}

/** useBell reports whether calls ring aloud. */
export function useBell(): boolean {
  return useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => on,
  );
}

const every = 3_000;
let context: AudioContext | undefined;

/** ring rings until the returned function is called. */
export function ring(): () => void {
  const stop = new AbortController();
  const go = () => {
    toll();
    const again = setInterval(toll, every);
    return new Promise<void>((resolve) =>
      stop.signal.addEventListener("abort", () => {
        clearInterval(again);
        resolve();
      }),
    );
  };
  if (navigator.locks)
    void navigator.locks.request("carillon.ring", { signal: stop.signal }, go).catch(() => {}); // it stopped before it was this page's turn
  else void go();
  return () => stop.abort();
}

/** toll plays the bell twice. */
export function toll(): void {
  try {
    context ??= new AudioContext();
    if (context.state === "suspended") void context.resume();
    for (const begin of [0, 0.45])
      for (const [i, hertz] of [784, 988, 1568].entries()) {
        const at = context.currentTime + begin;
        const tone = context.createOscillator();
        const volume = context.createGain();
        tone.frequency.value = hertz;
        volume.gain.setValueAtTime(0.0001, at);
        volume.gain.exponentialRampToValueAtTime(0.14 / (i + 1), at + 0.012);
        volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.42);
        tone.connect(volume).connect(context.destination);
        tone.start(at);
        tone.stop(at + 0.45);
      }
  } catch {
    /* a browser that lets nothing be heard yet */
  }
}
