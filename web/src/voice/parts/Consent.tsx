import { useEffect, useRef } from "preact/hooks";
import type { Voice } from "../voice";
import { Icon } from "./Icon";

/** Consent asks whether the browser's maker may recognise what is said, before the microphone is opened. */
export function Consent({ voice }: { voice: Voice }) {
  const { texts } = voice;
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <section class="terms consent" role="group" aria-label={texts.consentTitle}>
      <p>{texts.consent}</p>
      <button ref={first} class="primary" onClick={() => voice.agree(true)}>
        <Icon name="mic" />
        {texts.consentYes}
      </button>
      <button class="secondary" onClick={() => voice.agree(false)}>
        <Icon name="keys" />
        {texts.consentNo}
      </button>
    </section>
  );
}
