import { Button, TextInput } from "@mantine/core";
import { IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { sound } from "../../api";
import { useTexts } from "../../i18n";
import type { Agent } from "./types";
import { failed } from "../../ui/problem";
import { problem } from "../talk/say";
import { voiceTexts } from "./texts";

/** Listen plays a sentence in the voice that the form has, stored or not. */
export function Listen({ agent }: { agent: Agent }) {
  const t = useTexts(voiceTexts);
  const [text, setText] = useState<string>();
  const [state, setState] = useState<"quiet" | "asking" | "playing">("quiet");
  const playing = useRef<{ context: AudioContext; stop: AbortController }>(undefined);
  const stop = () => {
    playing.current?.stop.abort();
    void playing.current?.context.close();
    playing.current = undefined;
    setState("quiet");
  };
  useEffect(() => stop, []);
  const play = async () => {
    if (!window.AudioContext) {
      problem(t.silent);
      return;
    }
    const own = { context: new AudioContext(), stop: new AbortController() }; // made in the click, or a browser keeps it silent
    playing.current = own;
    setState("asking");
    try {
      const { warning: _, ...draft } = agent;
      const wav = await sound(`/agents/${agent.id}/speak`, { text: text ?? t.sample, agent: draft }, own.stop.signal);
      const source = own.context.createBufferSource();
      source.buffer = await own.context.decodeAudioData(wav);
      if (playing.current !== own) return;
      source.connect(own.context.destination);
      source.onended = () => {
        if (playing.current === own) stop();
      };
      source.start();
      setState("playing");
    } catch (e) {
      if (playing.current !== own) return;
      stop();
      failed(e);
    }
  };
  return (
    <div style={{ display: "flex", gap: 8 }}>
      <TextInput
        aria-label={t.sampleLabel}
        style={{ flex: 1 }}
        value={text ?? t.sample}
        maxLength={500}
        onChange={(e) => setText(e.currentTarget.value)}
      />
      {state === "quiet" ? (
        <Button
          variant="default"
          leftSection={<IconPlayerPlay size={15} />}
          disabled={!(text ?? t.sample).trim()}
          onClick={() => void play()}
        >
          {t.listen}
        </Button>
      ) : (
        <Button variant="default" leftSection={<IconPlayerStop size={15} />} onClick={stop}>
          {t.stop}
        </Button>
      )}
    </div>
  );
}
