import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Host } from "../host";
import type { Model } from "../model";
import { ahead, type Texts } from "../texts";
import type { Voice } from "../voice";
import { Consent } from "./Consent";
import { Head } from "./Head";
import { Icon } from "./Icon";
import { Log } from "./Log";
import { Meter, Orb } from "./Orb";

/** Talking is the screen of a talk that goes on. */
export function Talking({ voice, host }: { voice: Voice; host: Host }) {
  const { model: m, texts, widget } = voice;
  const levels = useMemo(() => () => voice.talk?.level ?? { input: 0, output: 0 }, [voice]);
  const small = useSmall();
  const full =
    m.lines.length > 3 ||
    m.choices.length > 0 ||
    m.handoff === "queued" ||
    !!m.mic.problem ||
    m.lines.some((l) => l.text.length > 140);
  const person =
    widget.talk_to_person !== false &&
    (m.handoff === "bot" || m.handoff === "missed") &&
    m.conversation !== "" &&
    m.state !== "connecting";
  return (
    <div class="page">
      <Head
        host={host}
        texts={texts}
        widget={widget}
        title={m.teammate || widget.agent?.name || widget.name || texts.agent}
      >
        <button
          class="icon"
          aria-pressed={!m.sound}
          aria-label={texts.soundOff}
          title={m.sound ? texts.soundOff : texts.soundOn}
          onClick={() => voice.sound(!m.sound)}
        >
          <Icon name={m.sound ? "loud" : "quiet"} />
        </button>
      </Head>
      <main class="talk">
        <div class="stage">
          <Orb state={m.state} size={small ? 72 : full ? 96 : 144} levels={levels} />
          <p class="state" role="status">
            {word(m, texts)}
          </p>
          {person && (
            <button class="pill" onClick={() => void voice.person()}>
              <Icon name="person" size={16} />
              {texts.person}
            </button>
          )}
          {m.blocked && (
            <button class="primary" onClick={() => voice.hear()}>
              <Icon name="loud" />
              {texts.hear}
            </button>
          )}
        </div>
        <Status voice={voice} />
        <Log voice={voice} />
      </main>
      <Controls voice={voice} levels={levels} />
    </div>
  );
}

/** word says in one word what goes on. */
export function word(m: Model, texts: Texts): string {
  if (m.state === "connecting" || m.state === "reconnecting" || m.state === "thinking" || m.state === "speaking")
    return texts[m.state];
  if (m.mic.muted) return texts.muted;
  if (m.handoff === "queued") return texts.hold;
  if (m.teammate || m.handoff === "active") return texts.with;
  return m.mic.on ? texts.listening : texts.ready;
}

/** Status is what else there is to know: that one waits for a person, that something does not work. */
function Status({ voice }: { voice: Voice }) {
  const { model: m, texts, widget } = voice;
  const problem = m.mic.problem && voice.canListen ? texts[m.mic.problem] : "";
  return (
    <div class="notices">
      {m.handoff === "queued" && (
        <p class="notice" role="status">
          <span class="pulse" aria-hidden="true" />
          <span>
            {texts.queued} {m.position ? ahead(texts.position, m.position) : ""}
          </span>
          <button class="link" onClick={() => void voice.agent()}>
            {texts.cancel}
          </button>
        </p>
      )}
      {m.handoff === "missed" && (
        <p class="notice" role="status">
          {texts.missed}
        </p>
      )}
      {m.notice && (
        <p class="notice warn" role="alert">
          {m.notice}
        </p>
      )}
      {problem && (
        <p class="notice warn" role="alert">
          {problem}
        </p>
      )}
      {m.asking && <Consent voice={voice} />}
      {!voice.canListen && !m.notice && m.lines.length < 2 && (
        <p class="notice">{widget.speech === false ? texts.both : texts.deaf}</p>
      )}
    </div>
  );
}

/** Controls are the microphone, the line to write in, and hanging up. */
function Controls({ voice, levels }: { voice: Voice; levels: () => { input: number; output: number } }) {
  const { model: m, texts, widget } = voice;
  const [text, setText] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const b = box.current;
    if (!b) return;
    b.style.height = "auto";
    b.style.height = Math.min(b.scrollHeight, 96) + "px";
  }, [text]);
  const writes = widget.text_input !== false || !voice.canListen || !!m.mic.problem;
  const send = () => {
    if (!text.trim()) return;
    voice.say(text);
    setText("");
    box.current?.focus();
  };
  const mic = !m.mic.on ? texts.micOn : m.mic.muted ? texts.micUnmute : texts.micMute;
  return (
    <footer class="controls">
      {m.choices.length > 0 && (
        <div class="choices" role="group" aria-label={texts.choices}>
          {m.choices.map((c) => (
            <button key={c} onClick={() => voice.say(c)} dir="auto">
              {c}
            </button>
          ))}
        </div>
      )}
      {writes && (
        <div class="line">
          <textarea
            ref={box}
            rows={1}
            value={text}
            maxLength={4000}
            placeholder={m.mic.on ? texts.placeholder : texts.placeholderTyping}
            aria-label={m.mic.on ? texts.placeholder : texts.placeholderTyping}
            dir="auto"
            enterkeyhint="send"
            data-first={m.speaking ? undefined : true}
            onInput={(e) => {
              setText(e.currentTarget.value);
              voice.typing();
            }}
            onKeyDown={(e) => {
              if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
                e.preventDefault();
                send();
              }
            }}
          />
          <button class="icon send" aria-label={texts.send} title={texts.send} disabled={!text.trim()} onClick={send}>
            <Icon name="send" filled />
          </button>
        </div>
      )}
      <div class="buttons">
        {voice.canListen && m.mic.on && (
          <button class="round side" aria-label={texts.micOff} title={texts.micOff} onClick={() => voice.write()}>
            <Icon name="keys" />
          </button>
        )}
        {voice.canListen && (
          <button
            class={"round mic" + (m.mic.on ? (m.mic.muted ? " muted" : " on") : "")}
            data-first={m.speaking ? true : undefined}
            aria-label={mic}
            title={mic}
            onClick={() => void voice.microphone()}
          >
            <Icon name={m.mic.on && !m.mic.muted ? "mic" : "micOff"} size={24} />
            {m.mic.on && !m.mic.muted && <Meter levels={levels} />}
          </button>
        )}
        <button class="round end" aria-label={texts.hangUp} title={texts.hangUp} onClick={() => voice.hangUp()}>
          <Icon name="phone" filled size={24} />
        </button>
      </div>
    </footer>
  );
}

/** useSmall says whether there is little room. */
function useSmall(): boolean {
  const little = "(max-height: 560px)";
  const [small, setSmall] = useState(() => matchMedia(little).matches);
  useEffect(() => {
    const q = matchMedia(little);
    const set = () => setSmall(q.matches);
    q.addEventListener("change", set);
    return () => q.removeEventListener("change", set);
  }, []);
  return small;
}
