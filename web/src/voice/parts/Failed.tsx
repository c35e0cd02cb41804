import type { Host } from "../host";
import type { Texts } from "../texts";
import type { Voice } from "../voice";
import { Head, Number } from "./Head";
import { Icon } from "./Icon";

/** Failed says what went wrong, what to do, and by which number it can be looked into. */
export function Failed({ voice, host }: { voice: Voice; host: Host }) {
  const { model: m, texts } = voice;
  const [what, then] = {
    refused: [texts.failRefused, texts.doOwner],
    gone: [texts.failGone, texts.doOwner],
    busy: [texts.failBusy, texts.doLater],
    lost: [texts.failLost, texts.doNetwork],
    unavailable: [texts.failUnavailable, texts.doLater],
  }[m.failure ?? "lost"];
  return (
    <div class="page">
      <Head host={host} texts={texts} widget={voice.widget} />
      <main class="failed">
        <span class="mark bad" aria-hidden="true">
          <Icon name="alert" size={26} />
        </span>
        <div role="alert">
          <h2 tabIndex={-1} data-first>
            {what}
          </h2>
          <p>{then}</p>
        </div>
        {m.detail && (
          <p class="note" dir="auto">
            {m.detail}
          </p>
        )}
        {m.conversation && <Number id={m.conversation} texts={texts} />}
        {m.failure !== "gone" && (
          <button class="primary" onClick={() => voice.change({ do: "again" })}>
            {texts.retry}
          </button>
        )}
      </main>
    </div>
  );
}

/** Broken is all there is where nothing can be loaded. */
export function Broken({ texts }: { texts: Texts }) {
  return (
    <div class="page">
      <main class="failed">
        <span class="mark bad" aria-hidden="true">
          <Icon name="alert" size={26} />
        </span>
        <p role="alert">{texts.failed}</p>
        <button class="primary" onClick={() => location.reload()}>
          {texts.retry}
        </button>
      </main>
    </div>
  );
}
