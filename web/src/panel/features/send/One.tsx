import { phone } from "../../ui/number";
import { useSenderName } from "../../ui/sender";
import { Button, CopyButton, Select, TextInput } from "@mantine/core";
import { IconCheck, IconCopy, IconDeviceMobile, IconSend } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState, type FormEvent } from "react";
import { send, Unreachable } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Card, Note } from "../../ui/parts";
import { problemText, requestOf } from "../../ui/problem";
import { time } from "../calls/format";
import { id } from "../inbox/store";
import { curlOf } from "../notifications/curl";
import { Preview } from "../templates/Preview";
import { base } from "../widgets/places";
import { bodyOf, faultsOf, shownValues, toSend, type Message } from "./message";
import { TemplateField } from "./TemplateField";
import { texts } from "./texts";
import { kindOf, kinds, type Kind, type Template } from "./types";
import { Values } from "./Values";
import { ownZone, When, unset } from "./When";

const phoneOfSandbox = "34600701234";

interface Sent {
  id: string;
  at?: string;
  number: string;
}

/** One sends a template to one person. */
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
  const language = useLanguage();
  const company = useCompany();
  const client = useQueryClient();
  const template = all.find((x) => x.id === chosen && x.status === "approved");
  const refused = chosen && !template ? all.find((x) => x.id === chosen) : undefined;
  const [m, set] = useState<Message>({
    number: "",
    firstName: "",
    values: {},
    campaign: "",
    kind: kindOf(template),
    event: "",
    at: "",
    zone: ownZone,
  });
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const keys = useRef(new Map<string, string>()); // of what was tried: the same again is the same request, something else is another
  const done = useRef<HTMLAnchorElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const message = { ...m, template };
  const body = JSON.stringify(bodyOf(message));
  const change = (to: Partial<Message>) => {
    set((now) => ({ ...now, ...to }));
    setFaults((now) => Object.fromEntries(Object.entries(now).filter(([f]) => !(f in to))));
    setProblem(undefined);
  };
  useEffect(() => {
    set((now) => ({ ...now, kind: kindOf(template) }));
    setFaults({});
  }, [template?.id]);
  useEffect(() => {
    if (sent) done.current?.focus();
  }, [sent]);
  const lacking = (): Record<string, string> => {
    const found: Record<string, string> = {};
    if (!template) found.template = t.required;
    if (!toSend(m.number)) found.number = t.required;
    if (!m.campaign.trim()) found.campaign = t.required;
    if (m.at === unset) found.at = t.required;
    for (const key of template?.variables ?? []) if (!(m.values[key] ?? "").trim()) found[key] = t.required;
    return found;
  };
  const show = (found: Record<string, string>) => {
    setFaults(found);
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
      setSent({ id: r.notification_id, at: r.scheduled_time, number: toSend(m.number) });
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
  const contact = useMemo(
    () => ({ number: toSend(m.number), first_name: m.firstName.trim() }),
    [m.number, m.firstName],
  );
  if (sent) {
    return (
      <Card label={t.title}>
        <div className="send-sent" role="status">
          <IconCheck size={22} aria-hidden="true" />
          <div>
            <h2>{sent.at ? fill(t.isScheduled, { time: time(sent.at, language) }) : t.isSent}</h2>
            <p className="muted">{fill(t.toNumber, { number: phone(sent.number) })}</p>
            <div className="send-actions">
              <Button
                renderRoot={(props) => <Link ref={done} to="/notifications/$id" params={{ id: sent.id }} {...props} />}
              >
                {t.follow}
              </Button>
              {template?.provider === "sandbox" && (
                <Button
                  variant="default"
                  leftSection={<IconDeviceMobile size={16} />}
                  renderRoot={(props) => (
                    <Link
                      to="/sandbox/messages"
                      search={{ sender: template.sender, number: sent.number } as never}
                      {...props}
                    />
                  )}
                >
                  {t.openPhone}
                </Button>
              )}
              <Button variant="default" onClick={() => setSent(undefined)}>
                {t.another}
              </Button>
            </div>
          </div>
        </div>
      </Card>
    );
  }
  return (
    <div className="send-split">
      <form ref={form} className="card send-form" onSubmit={(e) => void submit(e)} noValidate aria-label={t.title}>
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
            <TextInput
              label={t.number}
              description={t.numberHelp}
              type="tel"
              autoComplete="off"
              value={m.number}
              error={faults.number}
              maxLength={40}
              onChange={(e) => change({ number: e.currentTarget.value })}
            />
            {template?.provider === "sandbox" && (
              <Button
                className="send-sandbox"
                size="compact-sm"
                variant="light"
                leftSection={<IconDeviceMobile size={14} />}
                onClick={() => change({ number: phoneOfSandbox })}
              >
                {t.toSandbox}
              </Button>
            )}
          </div>
          <TextInput
            label={t.firstName}
            description={t.firstNameHelp}
            value={m.firstName}
            error={faults.firstName}
            maxLength={255}
            onChange={(e) => change({ firstName: e.currentTarget.value })}
          />
          {template && (
            <Values
              template={template}
              values={m.values}
              faults={faults}
              contact={[{ name: "first_name", label: t.firstName }]}
              change={(key, text) => {
                change({ values: { ...m.values, [key]: text } });
                setFaults((now) => Object.fromEntries(Object.entries(now).filter(([f]) => f !== key)));
              }}
            />
          )}
          <div className="send-pair">
            <TextInput
              label={t.campaign}
              description={t.campaignHelp}
              value={m.campaign}
              error={faults.campaign}
              maxLength={255}
              onChange={(e) => change({ campaign: e.currentTarget.value })}
            />
            <Select
              label={t.kind}
              description={t.kindHelp}
              allowDeselect={false}
              data={kinds.map((k) => ({ value: k, label: t[k] }))}
              value={m.kind}
              error={faults.kind}
              onChange={(v) => change({ kind: (v ?? m.kind) as Kind })}
            />
          </div>
          <When at={m.at} zone={m.zone} change={change} error={faults.at ?? faults.zone} />
          <details className="send-more">
            <summary>{t.moreOptions}</summary>
            <TextInput
              label={t.event}
              description={t.eventHelp}
              value={m.event}
              error={faults.event}
              maxLength={255}
              onChange={(e) => change({ event: e.currentTarget.value })}
            />
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
            <CopyButton value={curlOf(base, { channel: "messaging", unflatten: false, body })} timeout={1500}>
              {({ copied, copy }) => (
                <Button
                  variant="default"
                  leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
                  onClick={copy}
                >
                  {copied ? t.copiedCurl : t.curl}
                </Button>
              )}
            </CopyButton>
          </div>
        </div>
      </form>
      <aside className="send-preview" aria-label={t.preview}>
        {template ? (
          <Preview
            components={template.components}
            values={shownValues(m.values, contact)}
            sender={senderName(template.sender)}
          />
        ) : (
          <p className="muted send-no-preview">{t.noPreview}</p>
        )}
      </aside>
    </div>
  );
}
