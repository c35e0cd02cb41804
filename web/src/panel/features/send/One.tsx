import { Button, CopyButton, Select, TextInput } from "@mantine/core";
import { IconCheck, IconCopy, IconDeviceMobile, IconSend } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type FormEvent, type ReactNode } from "react";
import { send, Unreachable } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Note } from "../../ui/parts";
import { numberIn, phone } from "../../ui/number";
import { problemText, requestOf } from "../../ui/problem";
import { useSenderName } from "../../ui/sender";
import { rules } from "../../ui/texts";
import { id } from "../../ui/id";
import { curlOf } from "../notifications/curl";
import { Preview } from "../templates/Preview";
import { base } from "../widgets/places";
import { Fallback } from "./Fallback";
import { bodyOf, contactOf, faultsOf, named, shownValues, type Message } from "./message";
import { samplesOf } from "./places";
import { SentResult } from "./SentResult";
import { TemplateField } from "./TemplateField";
import { texts } from "./texts";
import { To } from "./To";
import { kindOf, kinds, type Template } from "./types";
import { Values } from "./Values";
import { ownZone, When, unset } from "./When";

const phoneOfSandbox = "34600701234";

/** One sends a template to one person, or a few. */
export function One({
  all,
  chosen,
  choose,
}: {
  all: Template[];
  chosen?: string;
  choose: (id: string | undefined) => void;
}) {
  const senderName = useSenderName();
  const t = useTexts(texts);
  const company = useCompany();
  const client = useQueryClient();
  const approved = all.filter((x) => x.status === "approved");
  const template =
    approved.find((x) => x.id === chosen) ?? (!chosen && approved.length === 1 ? approved[0] : undefined);
  const refused = chosen && !template ? all.find((x) => x.id === chosen) : undefined;
  const [m, set] = useState<Message>({
    to: [],
    values: {},
    campaign: "",
    kind: kindOf(template),
    event: "",
    at: "",
    zone: ownZone,
  });
  const [faults, setFaults] = useState<Record<string, ReactNode>>({});
  const [problem, setProblem] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState("");
  const keys = useRef(new Map<string, string>()); // of what was tried: the same again is the same request, something else is another
  const form = useRef<HTMLFormElement>(null);
  const more = useRef<HTMLDetailsElement>(null);
  // A one-time code is not followed by a call.
  const message = { ...m, template, fallback: template?.category === "AUTHENTICATION" ? undefined : m.fallback };
  const body = JSON.stringify(bodyOf(message));
  const variables = template?.variables ?? [];
  const naming = named(m.values, variables);
  const change = (to: Partial<Message>) => {
    set((now) => ({ ...now, ...to }));
    setFaults((now) => Object.fromEntries(Object.entries(now).filter(([f]) => !(f in to))));
    setProblem(undefined);
  };
  useEffect(() => {
    set((now) => ({ ...now, kind: kindOf(template) }));
    setFaults({});
  }, [template?.id]);
  const lacking = (): Record<string, string> => {
    const found: Record<string, string> = {};
    if (!template) found.template = t.required;
    if (m.to.length === 0) found.to = t.required;
    if (m.to.some((p) => !numberIn(p.number))) found.to = rules.now.number!;
    if (m.at === unset) found.at = t.required;
    if (message.fallback && !message.fallback.agent) found["fallback.agent_id"] = t.required;
    for (const key of variables) if (!(m.values[key] ?? "").trim()) found[key] = t.required;
    if (naming) m.to.forEach((p, i) => !p.name.trim() && (found["name." + i] = t.required));
    return found;
  };
  const show = (found: Record<string, ReactNode>) => {
    setFaults(found);
    if (more.current && ["campaign", "kind", "event"].some((f) => f in found)) more.current.open = true;
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  };
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    const found = lacking();
    if (busy) return;
    if (Object.keys(found).length > 0) {
      show(found);
      return;
    }
    if (!keys.current.has(body)) keys.current.set(body, id());
    setBusy(true);
    setProblem(undefined);
    try {
      const r = await send("post", "/notifications", {
        body: bodyOf(message),
        headers: { "Idempotency-Key": keys.current.get(body)! },
      });
      setSent(r.notification_id);
      keys.current.delete(body); // the next one is meant
      void client.invalidateQueries({ queryKey: [company.id, "notifications"] });
    } catch (e) {
      const at = faultsOf(e, m.values, t.noValue, t.inPast);
      if (Object.keys(at).length > 0) show(at);
      else setProblem(e);
    } finally {
      setBusy(false);
    }
  };
  const samples = useMemo(() => (template ? samplesOf(template) : {}), [template]);
  const first = m.to[0];
  const values = shownValues(m.values, first ? contactOf(first) : {});
  if (sent && template)
    return (
      <SentResult
        id={sent}
        template={template}
        values={values}
        again={() => {
          setSent("");
          set((now) => ({ ...now, to: [] }));
        }}
      />
    );
  return (
    <div className="send-split">
      <form ref={form} className="card send-form" onSubmit={(e) => void submit(e)} noValidate aria-label={t.title}>
        <h2 className="hidden">{t.one}</h2>
        <div className="body stack">
          <TemplateField all={all} value={template} change={(x) => choose(x?.id)} error={faults.template} />
          {refused && (
            <Note tone="warn">
              <p>
                {fill(t.notSendable, {
                  name: refused.name,
                  state: (t as Record<string, string>)[refused.status] ?? refused.status,
                })}{" "}
                {refused.reason}
              </p>
            </Note>
          )}
          <div>
            <To people={m.to} change={(to) => change({ to })} error={faults.to} />
            {template?.provider === "sandbox" && (
              <Button
                className="send-sandbox"
                size="compact-sm"
                variant="light"
                leftSection={<IconDeviceMobile size={14} />}
                disabled={m.to.some((x) => x.number === phoneOfSandbox)}
                onClick={() => change({ to: [...m.to, { number: phoneOfSandbox, name: "" }] })}
              >
                {t.toSandbox}
              </Button>
            )}
          </div>
          {template && (
            <Values
              template={template}
              values={m.values}
              faults={faults}
              change={(some) => {
                change({ values: { ...m.values, ...some } });
                setFaults((now) => Object.fromEntries(Object.entries(now).filter(([f]) => !(f in some))));
              }}
            />
          )}
          {naming &&
            m.to.map((p, i) => (
              <TextInput
                key={p.number}
                label={m.to.length > 1 ? fill(t.nameOf, { number: phone(p.number) }) : t.name}
                description={faults["name." + i] ? undefined : t.nameHelp}
                inputWrapperOrder={["label", "input", "description", "error"]}
                value={p.name}
                error={faults["name." + i]}
                maxLength={255}
                autoComplete="off"
                onChange={(e) => {
                  const name = e.currentTarget.value;
                  change({ to: m.to.map((x, j) => (j === i ? { ...x, name } : x)) });
                  setFaults((now) => Object.fromEntries(Object.entries(now).filter(([f]) => f !== "name." + i)));
                }}
              />
            ))}
          <When at={m.at} zone={m.zone} change={change} error={faults.at ?? faults.zone} />
          {template?.category !== "AUTHENTICATION" && (
            <Fallback
              value={m.fallback}
              faults={faults}
              change={(fallback) => {
                change({ fallback });
                setFaults((now) => Object.fromEntries(Object.entries(now).filter(([f]) => !f.startsWith("fallback"))));
              }}
            />
          )}
          <details className="send-more" ref={more}>
            <summary>{t.moreOptions}</summary>
            <div className="stack">
              <div className="send-pair">
                <TextInput
                  label={t.campaign}
                  description={faults.campaign ? undefined : t.campaignHelp}
                  inputWrapperOrder={["label", "input", "description", "error"]}
                  placeholder={template?.name}
                  value={m.campaign}
                  error={faults.campaign}
                  maxLength={255}
                  onChange={(e) => change({ campaign: e.currentTarget.value })}
                />
                <Select
                  label={t.kind}
                  description={t.kindHelp}
                  inputWrapperOrder={["label", "input", "description", "error"]}
                  allowDeselect={false}
                  data={kinds.map((k) => ({ value: k, label: t[k] }))}
                  value={m.kind}
                  error={faults.kind}
                  onChange={(v) => change({ kind: v ?? m.kind })}
                />
              </div>
              <TextInput
                label={t.event}
                description={t.eventHelp}
                inputWrapperOrder={["label", "input", "description", "error"]}
                value={m.event}
                error={faults.event}
                maxLength={255}
                onChange={(e) => change({ event: e.currentTarget.value })}
              />
              <div>
                <CopyButton value={curlOf(base, { channel: "messaging", unflatten: false, body })} timeout={1500}>
                  {({ copied, copy }) => (
                    <Button
                      size="compact-sm"
                      variant="default"
                      leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                      onClick={copy}
                    >
                      {copied ? t.copiedCurl : t.curl}
                    </Button>
                  )}
                </CopyButton>
              </div>
            </div>
          </details>
          {problem !== undefined && (
            <Note tone="danger">
              <p>
                {problemText(problem)}
                {problem instanceof Unreachable && ` ${t.tryAgainSafe}`}
              </p>
              {requestOf(problem) && <p className="small">{requestOf(problem)}</p>}
            </Note>
          )}
          <div className="send-actions">
            <Button type="submit" loading={busy} leftSection={<IconSend size={16} />}>
              {m.at ? t.schedule : t.send}
            </Button>
          </div>
        </div>
      </form>
      <aside className="send-preview" aria-label={t.preview}>
        {template ? (
          <>
            <Preview
              components={template.components}
              values={values}
              samples={samples}
              sender={senderName(template.sender)}
            />
            {m.to.length > 1 && <p className="muted small send-caption">{fill(t.previewOf, { n: m.to.length })}</p>}
          </>
        ) : (
          <p className="muted send-no-preview">{t.noPreview}</p>
        )}
      </aside>
    </div>
  );
}
