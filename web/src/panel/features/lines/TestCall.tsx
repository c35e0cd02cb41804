import { Button, TextInput } from "@mantine/core";
import { IconPhoneCall, IconPhoneOff } from "@tabler/icons-react";
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import { Problem } from "../../api";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { stream } from "../../stream";
import type { Sender, Step, TestEnd } from "./types";
import { confirm } from "../../ui/confirm";
import { Card, Note } from "../../ui/parts";
import { failed, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Ladder } from "./Ladder";
import { Verdict } from "./Verdict";
import { parse } from "./trunk";
import { testTexts } from "./texts";

/** TestCall calls a number by the line as it is saved, and shows what the line and its trunk say to each other. */
export function TestCall({ line, changed }: { line: Sender; changed: boolean }) {
  const t = useTexts(testTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const sandbox = line.provider === "sandbox";
  const [number, setNumber] = useState("");
  const [error, setError] = useState<ReactNode>("");
  const [steps, setSteps] = useState<Step[]>([]);
  const [end, setEnd] = useState<TestEnd | "lost">();
  const [busy, setBusy] = useState(false);
  const going = useRef<AbortController>(undefined);
  useEffect(() => () => going.current?.abort(), []);

  const call = async (outside: boolean): Promise<void> => {
    const own = new AbortController();
    going.current = own;
    setBusy(true);
    setError("");
    setSteps([]);
    setEnd(undefined);
    let ended = false;
    try {
      await stream(
        `/senders/${encodeURIComponent(line.id!)}/test-call`,
        { number: number.trim(), language, ...(outside ? { outside_hours: true } : {}) },
        own.signal,
        (e) => {
          if (e.name === "step") setSteps((all) => [...all, e.data as Step]);
          if (e.name === "end") {
            ended = true;
            setEnd(e.data as TestEnd);
          }
        },
      );
      if (!ended) setEnd("lost");
    } catch (e) {
      if (own.signal.aborted) {
        setEnd({ problem: "canceled", code: 0, detail: "", answered: false, talked_ms: 0, packets: 0, loud: false });
        return;
      }
      if (e instanceof Problem && e.word === "outside_hours") {
        setBusy(false);
        const time = absolute(e.detail("opens_at"), language);
        if (await confirm({ title: t.outsideTitle, text: fill(t.outsideText, { time }), action: t.outsideCall }))
          await call(true);
        return;
      }
      if (e instanceof Problem && e.field === "number") setError(why(e));
      else failed(e);
    } finally {
      if (going.current === own) setBusy(false);
    }
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (!number.trim()) setError(s.required);
    else if (!busy) void call(false);
  };
  return (
    <Card title={t.title}>
      <form onSubmit={submit} noValidate className="stack" style={{ gap: 12 }}>
        <p className="muted flat">{sandbox ? t.helpSandbox : t.help}</p>
        {changed && <Note tone="warn">{t.saved}</Note>}
        <TextInput
          label={t.number}
          type="tel"
          autoComplete="off"
          maxLength={40}
          placeholder={sandbox ? "34600111234" : undefined}
          value={number}
          disabled={busy}
          onChange={(e) => {
            setNumber(e.currentTarget.value);
            setError("");
          }}
          error={error}
        />
        <div>
          {busy ? (
            <Button
              key="stop"
              color="red"
              leftSection={<IconPhoneOff size={16} />}
              onClick={() => going.current?.abort()}
            >
              {t.stop}
            </Button>
          ) : (
            <Button key="call" type="submit" leftSection={<IconPhoneCall size={16} />}>
              {end ? t.again : t.call}
            </Button>
          )}
        </div>
      </form>
      {(busy || steps.length > 0) && (
        <Ladder
          steps={steps}
          waiting={busy}
          far={sandbox ? t.phone : parse(line.settings.trunk ?? "").host || t.them}
        />
      )}
      {end && <Verdict end={end} />}
    </Card>
  );
}
