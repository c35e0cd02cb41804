import { useEffect, useReducer } from "preact/hooks";
import type { Host } from "../host";
import type { Voice } from "../voice";
import { Ended } from "./Ended";
import { Failed } from "./Failed";
import { Start } from "./Start";
import { Talking } from "./Talking";

/** App is the whole page: one screen of it. */
export function App({ voice, host }: { voice: Voice; host: Host }) {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  useEffect(() => {
    redraw(); // what has changed by now
    return voice.subscribe(() => redraw());
  }, [voice]);
  useEffect(() => {
    const keys = (e: KeyboardEvent) => {
      if (e.key === "Escape" && !e.defaultPrevented) host.tell("close");
    };
    window.addEventListener("keydown", keys);
    return () => window.removeEventListener("keydown", keys);
  }, [host]);
  const { screen } = voice.model;
  useEffect(() => {
    const focus = () => document.querySelector<HTMLElement>("[data-first]")?.focus({ preventScroll: true });
    host.onOpen = (open) => {
      if (open) focus();
    };
    if (host.embedded && !document.body.inert) focus();
  }, [host, screen]);
  switch (screen) {
    case "start":
      return <Start voice={voice} host={host} />;
    case "talk":
      return <Talking voice={voice} host={host} />;
    case "ended":
      return <Ended voice={voice} host={host} />;
    case "failed":
      return <Failed voice={voice} host={host} />;
  }
}
