import { Told } from "../../ui/Told";
import { ActionIcon, Button, Loader, SegmentedControl, TextInput } from "@mantine/core";
import { IconChecklist, IconRefresh, IconSend2 } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useRef, useState, type FormEvent } from "react";
import { post, Problem } from "../../api";
import { fill, useTexts, withTexts } from "../../i18n";
import type { Agent, Played } from "./types";
import { Certainty } from "../../ui/Certainty";
import { Note } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { answerTexts } from "../knowledge/texts";
import { useLines } from "../lines/useLines";
import { texts as toolTexts } from "../tools/texts";
import { callTexts, texts, voiceTexts } from "./texts";
import { keepConversation } from "./tests/keep";
import { texts as testTexts } from "./tests/texts";
import "./playground.css";

type Said = { contact: true; text: string } | { contact: false; text: string; played: Played };

const maxTurns = 50; // turns that the server takes

const PhoneTest = lazy(withTexts(() => import("./PhoneTest")));
const TalkTest = lazy(withTexts(() => import("./TalkTest")));

/** Playground is where an agent is tried: in writing as the form has it, aloud, or by the sandbox's phone. */
export function Playground({ agent, stored, changed }: { agent: Agent; stored: Agent; changed: boolean }) {
  const t = useTexts(texts);
  const v = useTexts(voiceTexts);
  const c = useTexts(callTexts);
  const lines = (useLines(false).data ?? []).filter((l) => l.provider === "sandbox");
  const [mode, setMode] = useState("type");
  return (
    <section className="card playground" aria-label={t.try}>
      <header>
        <h2>{t.try}</h2>
        <SegmentedControl
          size="xs"
          aria-label={v.how}
          value={mode}
          onChange={setMode}
          data={[
            { value: "type", label: v.type },
            { value: "talk", label: v.talk },
            ...(lines.length ? [{ value: "phone", label: c.phone }] : []),
          ]}
        />
      </header>
      {mode === "type" ? (
        <Written agent={agent} />
      ) : (
        <Suspense fallback={<Loader size="sm" m="auto" />}>
          {mode === "talk" ? (
            <TalkTest agent={stored} changed={changed} />
          ) : (
            <PhoneTest agent={stored} changed={changed} lines={lines} />
          )}
        </Suspense>
      )}
    </section>
  );
}

/** Written talks with the agent as the form has it. */
function Written({ agent }: { agent: Agent }) {
  const t = useTexts(texts);
  const [said, setSaid] = useState<Said[]>([]);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [said, busy]);
  const ask = async (question: string) => {
    const asked: Said[] = [...said, { contact: true, text: question }];
    setSaid(asked);
    setText("");
    setBusy(true);
    try {
      const { warning: _, ...draft } = agent;
      const before = said.at(-1);
      const played = await post(`/agents/${agent.id}/playground`, {
        said: asked
          .filter((x) => x.text)
          .slice(-maxTurns)
          .map(({ contact, text }) => ({ contact, text })),
        asked: before?.contact === false ? before.played.asks : undefined,
        memory: before?.contact === false ? before.played.memory : undefined,
        agent: draft,
      });
      setSaid([...asked, { contact: false, text: played.text, played }]);
    } catch (e) {
      setSaid(said);
      setText(question);
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const [keeping, setKeeping] = useState(false);
  const tt = useTexts(testTexts);
  const keep = async () => {
    setKeeping(true);
    try {
      if (await keepConversation(agent, said)) succeeded(tt.kept);
      else failed(new Problem(0, "", tt.unfit, {}, "", 0));
    } catch (e) {
      failed(e);
    } finally {
      setKeeping(false);
    }
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (text.trim() && !busy) void ask(text.trim());
  };
  return (
    <>
      <div className="try-head">
        <p className="small muted">{t.tryHelp}</p>
        {said.length > 0 && agent.engine !== "elevenlabs" && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            leftSection={<IconChecklist size={14} />}
            loading={keeping}
            disabled={busy}
            onClick={() => void keep()}
          >
            {tt.keep}
          </Button>
        )}
        {said.length > 0 && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            leftSection={<IconRefresh size={14} />}
            onClick={() => setSaid([])}
          >
            {t.restart}
          </Button>
        )}
      </div>
      <div className="log" ref={log} role="log" aria-label={t.try} tabIndex={0}>
        {said.length === 0 && <p className="muted start">{t.tryEmpty}</p>}
        {said.map((x, i) =>
          x.contact ? (
            <div key={i} className="said me">
              <span className="hidden">{t.you}: </span>
              {x.text}
            </div>
          ) : (
            <Answer
              key={i}
              played={x.played}
              choose={i === said.length - 1 && !busy ? (c) => void ask(c) : undefined}
            />
          ),
        )}
        {busy && (
          <div className="said waiting" role="status">
            {t.thinking}
          </div>
        )}
      </div>
      <form onSubmit={submit}>
        <TextInput
          aria-label={t.ask}
          placeholder={t.ask}
          value={text}
          maxLength={4000}
          onChange={(e) => setText(e.currentTarget.value)}
          rightSection={
            <ActionIcon type="submit" variant="subtle" aria-label={t.send} disabled={!text.trim() || busy}>
              <IconSend2 size={17} />
            </ActionIcon>
          }
        />
      </form>
    </>
  );
}

function Answer({ played: p, choose }: { played: Played; choose?: (choice: string) => void }) {
  const t = useTexts(texts);
  const a = useTexts(answerTexts);
  const o = useTexts(toolTexts);
  return (
    <div className="answer">
      {p.text && <div className="said">{p.text}</div>}
      {p.choices.length > 0 && (
        <div className="tags">
          {p.choices.map((c) => (
            <Button key={c} variant="default" size="compact-sm" disabled={!choose} onClick={() => choose?.(c)}>
              {c}
            </Button>
          ))}
        </div>
      )}
      {p.tools?.map((x, i) => (
        <Note key={i} tone={x.status === "ok" ? "ok" : "warn"}>
          <code>{x.tool}</code> {x.arguments} · {o[`status_${x.status}`]}
          {x.reason && (
            <>
              : <Told text={x.reason} />
            </>
          )}
        </Note>
      ))}
      {p.handoff !== undefined && <Note tone="ok">{t.handedOver}</Note>}
      {p.end && <Note>{t.ended}</Note>}
      {p.unanswered && <Note tone="warn">{t.unanswered}</Note>}
      <div className="small muted">
        {p.outcome && `${a[p.outcome]} · `}
        {fill(t.took, { n: p.ms })}
        {p.sources.map((s, i) => (
          <span key={i}>
            {" "}
            · {t.source}:{" "}
            {/^https?:/.test(s.url) ? (
              <a href={s.url} target="_blank" rel="noreferrer noopener">
                {s.title}
              </a>
            ) : (
              s.title
            )}
            {" · "}
            <span title={s.passage}>
              <Certainty of={s.confidence} />
            </span>
          </span>
        ))}
      </div>
    </div>
  );
}
