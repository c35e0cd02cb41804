import { ActionIcon, Button, TextInput } from "@mantine/core";
import { IconMicrophone, IconMicrophoneOff, IconPhoneOff, IconSend2, IconVolume } from "@tabler/icons-react";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { Talk, type Closing, type Mic, type TalkState } from "../../../shared/voice/talk";
import { get, post } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import type { Agent } from "./types";
import type { Aloud } from "../talk/types";
import { Note } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { problem as tell } from "../talk/say";
import { Spoken } from "../talk/Spoken";
import { usual } from "./VoiceForm";
import { voiceTexts } from "./texts";

interface Line {
  key: string;
  me: boolean;
  text: string;
  heard?: string;
  choices?: string[];
  voice?: Aloud;
}

/** TalkTest talks aloud with the agent as it is stored. */
export default function TalkTest({ agent, changed }: { agent: Agent; changed: boolean }) {
  const t = useTexts(voiceTexts);
  const language = useLanguage();
  const talk = useRef<Talk>(undefined);
  const [state, setState] = useState<TalkState>("idle");
  const [mic, setMic] = useState<Mic>({ on: false, muted: false });
  const [blocked, setBlocked] = useState(false);
  const [lines, setLines] = useState<Line[]>([]);
  const [tentative, setTentative] = useState("");
  const [text, setText] = useState("");
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => () => talk.current?.hangUp(), []);
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [lines, tentative]);
  const deaf = (agent.voice ?? usual).transcriber === "none";
  if (agent.engine === "elevenlabs")
    return (
      <div className="talk-test">
        <Note>{t.elsewhere}</Note>
      </div>
    );

  const put = (line: Line) =>
    setLines((all) =>
      all.some((l) => l.key === line.key)
        ? all.map((l) => (l.key === line.key ? { ...l, ...line } : l))
        : [...all, line],
    );
  const start = (microphone: boolean) => {
    const own = new Talk();
    talk.current = own;
    setLines([]);
    let id = "";
    let said = 0;
    own.on("state", setState);
    own.on("mic", setMic);
    own.on("blocked", setBlocked);
    own.on("heard", (h) => {
      setTentative(h.final ? "" : h.text);
      if (h.final && h.text) {
        put({ key: "me" + ++said, me: true, text: h.text });
        void times(id, setLines);
      }
    });
    own.on("response", (r) => {
      put({ key: "agent" + r.id, me: false, text: r.text });
      if (r.whole) setTimeout(() => void times(id, setLines), 2500);
    });
    own.on("corrected", (c) =>
      setLines((all) => all.map((l) => (l.key === "agent" + c.id ? { ...l, heard: c.text } : l))),
    );
    own.on("choices", (c) =>
      setLines((all) => all.map((l) => (l.key === "agent" + c.id ? { ...l, choices: c.choices } : l))),
    );
    own.on("problem", (p) => {
      if (p.message) tell(p.message);
    });
    own.on("closed", (c: Closing) => {
      if (c.by === "refused" || (c.by === "lost" && !own.conversation)) {
        if (c.error) failed(c.error);
        else tell(t.failed);
      }
      void times(id, setLines);
    });
    own.connect(
      async () => {
        const address = await post(`/agents/${agent.id}/talk`, {}).catch((e: unknown) => {
          throw Object.assign(e as object, { final: true });
        });
        id = address.conversation_id;
        return address.signed_url;
      },
      { mic: microphone },
    );
  };
  const say = (words: string) => {
    if (!talk.current?.sendText(words)) return;
    put({ key: "typed" + Date.now(), me: true, text: words });
    setText("");
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (text.trim()) say(text.trim());
  };
  const going = state !== "idle" && state !== "ended";
  const word = state === "reconnecting" ? t.error : t[state];
  const problem = mic.problem && (mic.problem === "missing" ? t.noMicrophone : t.refused);
  return (
    <div className="talk-test">
      <p className="small muted">
        {t.talkHelp}
        {changed && (
          <>
            {" "}
            <b>{t.unsaved}</b>
          </>
        )}
      </p>
      {deaf && <Note>{t.deafTalk}</Note>}
      <div className="log" ref={log} role="log" aria-label={t.captions} tabIndex={0}>
        {lines.map((l, i) => (
          <div key={l.key} className={l.me ? "said me" : "answer"}>
            {l.me ? (
              <>
                <span className="hidden">{t.you}: </span>
                {l.text}
              </>
            ) : (
              <div className="said">
                {l.heard === undefined ? l.text : <Spoken text={l.text} voice={{ cut: true, heard: l.heard }} />}
              </div>
            )}
            {!l.me && i === lines.length - 1 && l.choices && (
              <div className="tags">
                {l.choices.map((c) => (
                  <Button key={c} variant="default" size="compact-sm" disabled={!going} onClick={() => say(c)}>
                    {c}
                  </Button>
                ))}
              </div>
            )}
            {l.voice && <Latency voice={l.voice} language={language} />}
          </div>
        ))}
        {tentative && <div className="said me waiting">{tentative}…</div>}
      </div>
      {problem && (
        <div style={{ padding: "0 16px 8px" }}>
          <Note tone="warn">{problem}</Note>
        </div>
      )}
      {going ? (
        <>
          <div className="talk-line">
            <span className="talk-state" role="status" data-state={state}>
              <Pulse talk={talk.current!} />
              {mic.on && mic.muted ? t.mute : word}
            </span>
            {blocked && (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<IconVolume size={14} />}
                onClick={() => talk.current?.hear()}
              >
                {t.tapToHear}
              </Button>
            )}
            {mic.on && (
              <ActionIcon
                variant={mic.muted ? "filled" : "default"}
                color={mic.muted ? "red" : undefined}
                size={34}
                aria-label={mic.muted ? t.unmute : t.mute}
                aria-pressed={mic.muted}
                onClick={() => talk.current?.mute(!mic.muted)}
              >
                {mic.muted ? <IconMicrophoneOff size={17} /> : <IconMicrophone size={17} />}
              </ActionIcon>
            )}
            <Button
              size="compact-md"
              color="red"
              leftSection={<IconPhoneOff size={15} />}
              onClick={() => talk.current?.hangUp()}
            >
              {t.hangUp}
            </Button>
          </div>
          <form onSubmit={submit}>
            <TextInput
              aria-label={t.write}
              placeholder={t.write}
              value={text}
              maxLength={4000}
              onChange={(e) => setText(e.currentTarget.value)}
              rightSection={
                <ActionIcon type="submit" variant="subtle" aria-label={t.send} disabled={!text.trim()}>
                  <IconSend2 size={17} />
                </ActionIcon>
              }
            />
          </form>
        </>
      ) : (
        <div className="talk-start">
          {!deaf && (
            <Button leftSection={<IconMicrophone size={16} />} onClick={() => start(true)}>
              {state === "ended" ? t.again : t.start}
            </Button>
          )}
          <Button variant={deaf ? "filled" : "default"} onClick={() => start(false)}>
            {t.startQuiet}
          </Button>
        </div>
      )}
    </div>
  );
}

/** times reads how long the turns took, which is known after they are spoken. Lines and turns come in the same order. */
async function times(id: string, set: (change: (lines: Line[]) => Line[]) => void): Promise<void> {
  if (!id) return;
  const thread = await get(`/conversations/${id}`).catch(() => undefined);
  const turns = thread?.turns.filter((x) => x.voice && (x.author === "visitor" || x.author === "agent")) ?? [];
  set((lines) => {
    const left = [...turns];
    return lines.map((l) => {
      const at = left.findIndex(
        (x) => (x.author === "visitor") === l.me && (x.text.startsWith(l.text) || l.text.startsWith(x.text)),
      );
      return at < 0 ? l : { ...l, voice: left.splice(at, 1)[0]!.voice };
    });
  });
}

function Latency({ voice: v, language }: { voice: Aloud; language: string }) {
  const t = useTexts(voiceTexts);
  const steps: [string, number | undefined][] = [
    [t.detect, v.detect_ms],
    [t.transcribe, v.transcribe_ms],
    [t.think, v.think_ms],
    [t.firstAudio, v.first_audio_ms],
  ];
  const known = steps.filter((s): s is [string, number] => !!s[1]);
  return known.length === 0 ? null : (
    <div className="small muted">{known.map(([text, n]) => fill(text, { n: number(n, language) })).join(" · ")}</div>
  );
}

/** Pulse moves with the louder of both sides. */
function Pulse({ talk }: { talk: Talk }) {
  const at = useRef<HTMLElement>(null);
  useEffect(() => {
    let frame = 0;
    let shown = 0;
    const draw = () => {
      shown = Math.max(Math.min(1, 2.5 * Math.max(talk.level.input, talk.level.output)), shown * 0.86);
      at.current?.style.setProperty("--level", shown.toFixed(2));
      frame = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(frame);
  }, [talk]);
  return <i ref={at} aria-hidden="true" />;
}
