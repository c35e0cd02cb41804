import { why } from "../../ui/problem";
import { Button, Loader, Select, TextInput } from "@mantine/core";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { messageTexts as texts } from "./texts";
import type { Loaded } from "./snapshot";
import { id } from "../../ui/id";
import type { Inbox } from "./store";
import { preview } from "./templates";
import type { Offered } from "./types";

interface Props {
  inbox: Inbox;
  thread: Loaded;
  toast(message: ReactNode, problem?: boolean): void;
}

/** TemplatePicker is where a teammate writes when only a template reaches the contact. */
export function TemplatePicker({ inbox, thread, toast }: Props) {
  const t = useTexts(texts);
  const [all, setAll] = useState<Offered[]>();
  const [failed, setFailed] = useState(false);
  const [chosen, setChosen] = useState<string | null>(null);
  const [values, setValues] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReactNode>("");
  const attempt = useRef(id()); // of what is being sent: a repetition is the same
  const load = () => {
    setFailed(false);
    inbox.templates().then(setAll, () => setFailed(true));
  };
  useEffect(() => {
    let on = true;
    inbox.templates().then(
      (x) => {
        if (on) setAll(x);
      },
      () => {
        if (on) setFailed(true);
      },
    );
    return () => {
      on = false;
    };
  }, [inbox, thread.conversation.id]);
  const template = useMemo(() => all?.find((x) => keyOf(x) === chosen), [all, chosen]);
  const given = (key: string) => values[key] ?? (key === "body_text_0" ? thread.contact.name : "");
  const ready = !!template && template.needs.every((k) => given(k).trim());
  const change = (f: () => void) => {
    attempt.current = id();
    setProblem("");
    f();
  };
  const send = async () => {
    if (!template || !ready || busy) return;
    setBusy(true);
    try {
      await inbox.sendTemplate(
        attempt.current,
        template.name,
        template.language,
        Object.fromEntries(template.needs.map((k) => [k, given(k).trim()])),
      );
      toast(t.sentTemplate);
      change(() => {
        setChosen(null);
        setValues({});
      });
    } catch (e) {
      setProblem(why(e));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="inbox-locked">
      <p>{t.closedText}</p>
      {thread.window && !thread.window.sender_id ? (
        <p className="inbox-problem">{t.noSender}</p>
      ) : failed ? (
        <p className="inbox-problem">
          {t.loadFailed}{" "}
          <Button size="compact-xs" variant="default" onClick={load}>
            {t.retry}
          </Button>
        </p>
      ) : !all ? (
        <Loader size="xs" />
      ) : all.length === 0 ? (
        <p className="inbox-muted">{t.none}</p>
      ) : (
        <>
          <Select
            size="xs"
            aria-label={t.template}
            placeholder={t.choose}
            searchable
            data={all.map((x) => ({ value: keyOf(x), label: `${x.name} (${x.language})` }))}
            value={chosen}
            onChange={(v) =>
              change(() => {
                setChosen(v);
                setValues({});
              })
            }
          />
          {template && template.needs.length > 0 && (
            <div className="inbox-values">
              {template.needs.map((k) => (
                <TextInput
                  key={k}
                  size="xs"
                  label={labelOf(t, k)}
                  value={given(k)}
                  maxLength={1024}
                  onChange={(e) => {
                    const v = e.currentTarget.value;
                    change(() => setValues({ ...values, [k]: v }));
                  }}
                />
              ))}
            </div>
          )}
          {template && (
            <blockquote className="inbox-preview" aria-label={t.preview}>
              {preview(template, given)}
            </blockquote>
          )}
          {problem && (
            <p className="inbox-problem" role="alert">
              {problem}
            </p>
          )}
          {template && (
            <div>
              <Button size="xs" disabled={!ready} loading={busy} onClick={() => void send()}>
                {t.send}
              </Button>
            </div>
          )}
        </>
      )}
    </div>
  );
}

const keyOf = (x: Offered): string => `${x.name}/${x.language}`;

/** labelOf says what a value is for. */
function labelOf(t: Record<string, string>, key: string): string {
  const [, kind, n] = /^(.+?)(?:_(\d+))?$/.exec(key) ?? [];
  return fill(t[kind ?? ""] ?? fill(t.value!, { key }), { n: String(+(n ?? 0) + 1) });
}
