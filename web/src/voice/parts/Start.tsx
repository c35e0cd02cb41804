import { useState } from "preact/hooks";
import type { Host } from "../host";
import type { Voice } from "../voice";
import { Consent } from "./Consent";
import { Head } from "./Head";
import { Icon } from "./Icon";
import { Orb } from "./Orb";

const rest = () => ({ input: 0, output: 0 });

/** Start says whom one talks to, and waits for the click with which sound may begin. */
export function Start({ voice, host }: { voice: Voice; host: Host }) {
  const { widget, texts } = voice;
  const [agreed, agree] = useState(false);
  const ready = !widget.terms || agreed;
  const languages = [...new Set([...(widget.languages ?? []), voice.language])];
  const { asking } = voice.model;
  const hears = voice.understands;
  const elsewhere = !hears && voice.hearing.plan.window;
  const note = hears ? (widget.speech === false ? texts.mute : "") : widget.speech === false ? texts.both : texts.deaf;
  return (
    <div class="page">
      <Head host={host} texts={texts} widget={widget} />
      <main class="start">
        <Orb state="idle" size={156} levels={rest} />
        <h1 dir="auto">{widget.agent?.name || widget.name || texts.agent}</h1>
        {widget.agent?.name && <p class="ai">{texts.ai}</p>}
        {widget.welcome && (
          <p class="welcome" dir="auto">
            {widget.welcome}
          </p>
        )}
        <div class="choose">
          {(widget.languages?.length ?? 0) > 1 && (
            <label class="language">
              {texts.language}
              <span>
                <select value={voice.language} onChange={(e) => void voice.choose(e.currentTarget.value)}>
                  {languages.map((l) => (
                    <option key={l} value={l} lang={l}>
                      {named(l)}
                    </option>
                  ))}
                </select>
                <Icon name="down" size={16} />
              </span>
            </label>
          )}
          {widget.terms && (
            <section class="terms" aria-label={texts.terms}>
              <p tabIndex={0} dir="auto">
                {widget.terms}
              </p>
              <label>
                <input type="checkbox" checked={agreed} onChange={(e) => agree(e.currentTarget.checked)} />{" "}
                {texts.agree}
              </label>
            </section>
          )}
          {asking ? (
            <Consent voice={voice} />
          ) : (
            <Begin voice={voice} ready={ready} hears={hears} elsewhere={elsewhere} />
          )}
          {note && !asking && <p class="note">{note}</p>}
        </div>
      </main>
    </div>
  );
}

/** Begin offers the ways to begin. */
function Begin(o: { voice: Voice; ready: boolean; hears: boolean; elsewhere?: boolean }) {
  const { voice, ready, hears } = o;
  const { widget, texts } = voice;
  const [busy, setBusy] = useState(false); // the browser fetches what it needs
  const begin = async () => {
    setBusy(true);
    await voice.speak();
    setBusy(false);
  };
  return (
    <>
      <button
        class="primary large"
        data-first
        disabled={!ready || busy}
        aria-busy={busy}
        onClick={() => (hears ? void begin() : voice.begin(false, true))}
      >
        <Icon name={hears ? "mic" : widget.speech === false ? "keys" : "loud"} />
        {hears ? texts.talk : texts.start}
      </button>
      {hears && widget.text_input !== false && (
        <button class="secondary" disabled={!ready} onClick={() => voice.begin(false)}>
          <Icon name="keys" />
          {texts.type}
        </button>
      )}
      {o.elsewhere && (
        <button class="secondary" disabled={!ready} onClick={() => voice.elsewhere()}>
          <Icon name="mic" />
          {texts.elsewhere}
        </button>
      )}
    </>
  );
}

/** named is a language's name in itself. */
function named(tag: string): string {
  try {
    const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
    return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
  } catch {
    return tag;
  }
}
