// What tells a teammate who looks elsewhere: the count in the title, a sound, a notification of the browser. The last two by choice.
import { useEffect, useState, useSyncExternalStore } from "react";
import { nameOf } from "./model";
import type { Inbox } from "./store";
import { fill } from "../../i18n";
import type { InboxTexts } from "./texts";
import type { Update } from "./types";

export interface Notices {
  sound: boolean;
  desktop: boolean;
  setSound(on: boolean): void;
  setDesktop(on: boolean): Promise<boolean>;
}

const key = "carillon.inbox.notices";

function stored(): { sound: boolean; desktop: boolean } {
  try {
    return { sound: false, desktop: false, ...(JSON.parse(localStorage.getItem(key) ?? "{}") as object) };
  } catch {
    return { sound: false, desktop: false };
  }
}

export function useNotices(inbox: Inbox, t: InboxTexts, me: string, language: string): Notices {
  const [choice, setChoice] = useState(stored);
  const state = useSyncExternalStore(inbox.subscribe, inbox.snapshot);
  const keep = (to: typeof choice) => {
    setChoice(to);
    try {
      localStorage.setItem(key, JSON.stringify(to));
    } catch {
      /* private mode: kept for this page */
    }
  };

  const waiting = (state.counts?.unassigned ?? 0) + state.list.filter((c) => c.unread && c.assignee === me).length;
  useEffect(() => {
    document.title = (waiting ? `(${waiting}) ` : "") + `${t.inbox} · Carillon`;
  }, [waiting, t]);

  useEffect(() => {
    inbox.onUpdate = (u: Update) => {
      const c = u.conversation;
      const said = u.turns.find((x) => x.author === "visitor");
      const asks = u.turns.some((x) => x.event === "handoff_requested") && c.state === "queued";
      if (asks && c.channel === "web_voice") return; // it rings
      if (!asks && !(said && c.assignee === me)) return;
      if (document.visibilityState === "visible" && document.hasFocus() && inbox.snapshot().id === c.id) return;
      if (choice.sound) chime();
      if (choice.desktop && "Notification" in window && Notification.permission === "granted") {
        const name = nameOf(
          inbox.snapshot().list.find((x) => x.id === c.id),
          c.contact_id,
          t.visitor,
        );
        new Notification(fill(asks ? t.waitingFor : t.newFrom, { name }), {
          body: said?.text.slice(0, 120),
          tag: c.id,
          lang: language,
        });
      }
    };
    return () => {
      inbox.onUpdate = () => {};
    };
  }, [inbox, choice, me, t, language]);

  return {
    ...choice,
    setSound: (sound) => {
      keep({ ...choice, sound });
      if (sound) chime();
    },
    setDesktop: async (on) => {
      if (on && (!("Notification" in window) || (await Notification.requestPermission()) !== "granted")) return false;
      keep({ ...choice, desktop: on });
      return true;
    },
  };
}

let audio: AudioContext | undefined;

/** chime plays two short tones. */
function chime(): void {
  try {
    audio ??= new AudioContext();
    for (const [i, hertz] of [660, 880].entries()) {
      const at = audio.currentTime + i * 0.12;
      const tone = audio.createOscillator();
      const volume = audio.createGain();
      tone.frequency.value = hertz;
      volume.gain.setValueAtTime(0.0001, at);
      volume.gain.exponentialRampToValueAtTime(0.12, at + 0.02);
      volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.25);
      tone.connect(volume).connect(audio.destination);
      tone.start(at);
      tone.stop(at + 0.3);
    }
  } catch {
    /* a browser that lets nothing be heard yet */
  }
}
