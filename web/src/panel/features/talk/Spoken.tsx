import { IconStopwatch, IconVolume } from "@tabler/icons-react";
import { fill, useTexts } from "../../i18n";
import { number } from "../../format";
import type { Aloud } from "./types";
import { heardOf } from "./heard";
import { texts } from "./texts";
import "./spoken.css";

/**
 * Spoken is the text of a turn that was said aloud. Of one that the visitor spoke into, what was not heard is struck out; of one that
 * the visitor's browser corrected afterwards, the corrected words.
 */
export function Spoken({ text, voice: v }: { text: string; voice: Aloud }) {
  const t = useTexts(texts);
  const heard = v.cut ? heardOf(text, v.heard ?? "") : (v.final ?? text);
  return (
    <>
      <IconVolume className="spoken-aloud" size={15} role="img" aria-label={v.heard_by ? t.byBrowser : t.aloud}>
        {v.heard_by && <title>{t.byBrowser}</title>}
      </IconVolume>
      {heard}
      {v.cut && heard.length < text.length && <s className="spoken-unheard">{text.slice(heard.length)}</s>}
      {v.final && <span className="spoken-cut">{fill(t.corrected, { text })}</span>}
      {v.cut && <span className="spoken-cut">{heard ? t.cut : t.cutAll}</span>}
    </>
  );
}

/** Times is how long the steps of a turn took, the sum first. */
export function Times({ voice: v, language }: { voice: Aloud; language: string }) {
  const t = useTexts(texts);
  const ms = (n: number) => fill(t.ms, { n: number(n, language) });
  const rows: [string, number | undefined][] = [
    [t.length, v.length_ms],
    [t.detect, v.detect_ms],
    [t.transcribe, v.transcribe_ms],
    [t.think, v.think_ms],
    [t.firstAudio, v.first_audio_ms],
  ];
  const known = rows.filter((r): r is [string, number] => !!r[1]);
  if (known.length === 0) return null;
  const sum = (v.detect_ms ?? 0) + (v.transcribe_ms ?? 0) + (v.think_ms ?? 0) + (v.first_audio_ms ?? 0);
  return (
    <details className="spoken-times">
      <summary title={t.times}>
        <IconStopwatch size={13} stroke={1.8} aria-hidden="true" />
        {ms(sum || v.length_ms || 0)}
      </summary>
      <dl>
        {known.map(([name, n]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{ms(n)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
