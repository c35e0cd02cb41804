import type { ReactNode } from "react";
import { PasswordInput, Radio, Slider, TextInput } from "@mantine/core";
import "@mantine/core/styles/Slider.css";
import { fill, useLanguage, useTexts } from "../../i18n";
import { number } from "../../format";
import type { Agent, Service, Voice } from "./types";
import type { Draft } from "../../ui/draft";
import { Card, Note } from "../../ui/parts";
import { Listen } from "./Listen";
import { voiceTexts } from "./texts";

/** usual is the voice of an agent that has none of its own. */
export const usual: Voice = { speaker: "espeak", transcriber: "none", speed: 1, silence_ms: 600 };

/** VoiceForm is how an agent speaks and what it understands. */
export function VoiceForm({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(voiceTexts);
  const language = useLanguage();
  const { value: a, set, error } = draft;
  const v = a.voice ?? usual;
  const change = (more: Partial<Voice>) => set({ voice: { ...v, ...more } });
  return (
    <Card title={t.voice}>
      <div className="form">
        <p className="muted" style={{ margin: 0 }}>
          {t.about}
        </p>
        <Radio.Group
          label={t.speaker}
          value={v.speaker}
          onChange={(to) => change({ speaker: to })}
          error={error("voice.speaker")}
        >
          <div className="stack" style={{ gap: 12, marginTop: 8 }}>
            <Radio value="espeak" label={t.espeak} description={t.espeakHelp} />
            <Radio value="openai" label={t.openaiSpeaker} description={t.openaiSpeakerHelp} />
          </div>
        </Radio.Group>
        {v.speaker === "openai" && (
          <Server
            at="voice.speaker_service"
            help={t.speakerAddressHelp}
            value={v.speaker_service}
            change={(speaker_service) => change({ speaker_service })}
            error={error}
          />
        )}
        <TextInput
          label={t.voiceName}
          description={t.voiceNameHelp}
          spellCheck={false}
          maxLength={100}
          value={v.name ?? ""}
          onChange={(e) => change({ name: e.currentTarget.value || undefined })}
          error={error("voice.name")}
        />
        <Scale
          label={t.speed}
          help={fill(t.speedHelp, { n: new Intl.NumberFormat(language, { style: "percent" }).format(v.speed) })}
          value={v.speed}
          min={0.5}
          max={2}
          step={0.05}
          change={(speed) => change({ speed })}
          text={(n) => number(n, language)}
        />
        <Listen agent={a} />
        <Radio.Group
          label={t.transcriber}
          value={v.transcriber}
          onChange={(to) => change({ transcriber: to })}
          error={error("voice.transcriber")}
        >
          <div className="stack" style={{ gap: 12, marginTop: 8 }}>
            <Radio value="none" label={t.noneName} description={t.noneHelp} />
            <Radio value="openai" label={t.openaiTranscriber} description={t.openaiTranscriberHelp} />
            <Radio value="vosk" label={t.vosk} description={t.voskHelp} />
            <Radio value="pocketsphinx" label={t.pocketsphinx} description={t.pocketsphinxHelp} />
          </div>
        </Radio.Group>
        {v.transcriber === "none" && (
          <Note>
            <p>{t.deaf}</p>
          </Note>
        )}
        {(v.transcriber === "openai" || v.transcriber === "vosk") && (
          <Server
            at="voice.transcriber_service"
            vosk={v.transcriber === "vosk"}
            help={v.transcriber === "vosk" ? t.voskAddressHelp : t.transcriberAddressHelp}
            value={v.transcriber_service}
            change={(transcriber_service) => change({ transcriber_service })}
            error={error}
          />
        )}
        {v.transcriber !== "none" && (
          <Scale
            label={t.pause}
            help={fill(t.pauseHelp, { n: number(v.silence_ms, language) })}
            value={v.silence_ms}
            min={200}
            max={2000}
            step={50}
            change={(silence_ms) => change({ silence_ms })}
            text={(n) => number(n, language) + " ms"}
          />
        )}
      </div>
    </Card>
  );
}

/** Server is where something is spoken or transcribed. */
function Server({
  at,
  help,
  vosk,
  value,
  change,
  error,
}: {
  at: string;
  help: string;
  vosk?: boolean;
  value?: Service;
  change: (to: Service) => void;
  error: (field: string) => ReactNode;
}) {
  const t = useTexts(voiceTexts);
  const s = value ?? { base_url: "" };
  return (
    <>
      <TextInput
        label={t.address}
        description={help}
        type="url"
        spellCheck={false}
        value={s.base_url}
        onChange={(e) => change({ ...s, base_url: e.currentTarget.value })}
        error={error(at + ".base_url")}
      />
      {!vosk && (
        <TextInput
          label={t.model}
          spellCheck={false}
          value={s.model ?? ""}
          onChange={(e) => change({ ...s, model: e.currentTarget.value || undefined })}
          error={error(at + ".model")}
        />
      )}
      {!vosk && (
        <PasswordInput
          label={t.key}
          description={t.keyHelp}
          autoComplete="off"
          visibilityToggleButtonProps={{ "aria-label": t.key }}
          value={s.api_key ?? ""}
          onChange={(e) => change({ ...s, api_key: e.currentTarget.value || undefined })}
          error={error(at + ".api_key")}
        />
      )}
    </>
  );
}

function Scale({
  label,
  help,
  value,
  min,
  max,
  step,
  change,
  text,
}: {
  label: string;
  help: string;
  value: number;
  min: number;
  max: number;
  step: number;
  change: (to: number) => void;
  text: (n: number) => string;
}) {
  return (
    <div>
      <div className="field-label">{label}</div>
      <div className="small muted" style={{ marginBottom: 8 }}>
        {help}
      </div>
      <Slider
        value={value}
        min={min}
        max={max}
        step={step}
        onChange={(to) => change(Math.round(to * 100) / 100)}
        label={text}
        thumbLabel={label}
        style={{ maxWidth: 320 }}
      />
    </div>
  );
}
