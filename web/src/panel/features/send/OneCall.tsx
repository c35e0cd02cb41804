import { Button, Select, TextInput } from "@mantine/core";
import { IconPhoneCall } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import { send, Unreachable } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { numberIn, phone } from "../../ui/number";
import { Note } from "../../ui/parts";
import { problemText, requestOf } from "../../ui/problem";
import { useList } from "../../ui/resources";
import { rules } from "../../ui/texts";
import { id } from "../../ui/id";
import type { VoiceLine } from "../lines/types";
import { Why } from "../notifications/MessageCard";
import { Outcome } from "../notifications/State";
import { useOne } from "../notifications/useOne";
import { markersOf } from "../templates/variables";
import type { Address } from "./address";
import { contactOf, faultsOf, seconds, type Person } from "./message";
import { texts } from "./texts";
import { To } from "./To";
import { ownZone, unset, When } from "./When";

const ours = ["number", "name", "first_name"];

/** OneCall has an agent call one person. */
export function OneCall({ lines, first }: { lines: VoiceLine[]; first: Address }) {
  const t = useTexts(texts);
  const company = useCompany();
  const client = useQueryClient();
  const agents = useList("agents").data ?? [];
  const [to, setTo] = useState<Person[]>(() => {
    const number = numberIn(first.number ?? "");
    return number ? [{ number, name: first.name ?? "" }] : [];
  });
  const [chosen, choose] = useState("");
  const [line, setLine] = useState((lines.find((l) => l.default) ?? lines[0])?.id ?? "");
  const [values, setValues] = useState<Record<string, string>>({});
  const [kind, setKind] = useState("transactional");
  const [campaign, setCampaign] = useState(first.campaign ?? "");
  const [when, setWhen] = useState({ at: "", zone: ownZone });
  const [faults, setFaults] = useState<Record<string, ReactNode>>({});
  const [problem, setProblem] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState<{ id: string; number: string }>();
  const keys = useRef(new Map<string, string>()); // the same again is the same request
  const form = useRef<HTMLFormElement>(null);
  const agent = agents.find((a) => a.id === chosen) ?? (agents.length === 1 ? agents[0] : undefined);
  const spoken = agent ? [agent.greeting, agent.voicemail ?? ""].join(" ") : "";
  const fields = markersOf(spoken).filter((name) => !ours.includes(name));
  const naming = markersOf(spoken).some((name) => name === "name" || name === "first_name");
  const free = (field: string) => {
    setFaults(({ [field]: _, ...rest }) => rest);
    setProblem(undefined);
  };
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (busy) return;
    const found: Record<string, string> = {};
    if (!agent) found.agent = t.required;
    if (to.length === 0) found.to = t.required;
    if (to.some((p) => !numberIn(p.number))) found.to = rules.now.number!;
    if (when.at === unset) found.at = t.required;
    if (naming && to[0] && !to[0].name.trim()) found.name = t.required;
    for (const name of fields) if (!values[name]?.trim()) found["value." + name] = t.required;
    setFaults(found);
    if (Object.keys(found).length > 0) {
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      return;
    }
    const body = {
      contact: { ...Object.fromEntries(fields.map((name) => [name, values[name]!.trim()])), ...contactOf(to[0]!) },
      recipient_id: line,
      agent_id: agent!.id,
      notification_type: kind,
      campaign_name: campaign.trim() || agent!.name || agent!.id,
      ...(when.at ? { datetime_sending: seconds(when.at), timezone: when.zone } : {}),
    };
    const text = JSON.stringify(body);
    if (!keys.current.has(text)) keys.current.set(text, id());
    setBusy(true);
    setProblem(undefined);
    try {
      const r = await send("post", "/notifications", {
        query: { channel: "voice" },
        body,
        headers: { "Idempotency-Key": keys.current.get(text)! },
      });
      keys.current.delete(text);
      setSent({ id: r.notification_id, number: to[0]!.number });
      void client.invalidateQueries({ queryKey: [company.id, "notifications"] });
    } catch (error) {
      const at = faultsOf(error, {}, t.noValue, t.inPast);
      if (at.to || at.at) setFaults(at);
      else setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  if (sent)
    return (
      <Called
        called={sent}
        again={() => {
          setSent(undefined);
          setTo([]);
        }}
      />
    );
  return (
    <form ref={form} className="card send-form" onSubmit={(e) => void submit(e)} noValidate aria-label={t.oneCall}>
      <h2 className="hidden">{t.oneCall}</h2>
      <div className="body stack">
        <Select
          label={t.agent}
          placeholder={t.chooseAgent}
          searchable
          data={agents.map((a) => ({ value: a.id, label: a.name || a.id }))}
          value={agent?.id ?? null}
          error={faults.agent}
          onChange={(v) => {
            choose(v ?? "");
            free("agent");
          }}
        />
        <To
          people={to}
          most={1}
          error={faults.to}
          change={(people) => {
            setTo(people);
            free("to");
          }}
        />
        {(naming || fields.length > 0) && (
          <div className="send-values" role="group" aria-label={t.variables}>
            {naming && (
              <TextInput
                label={t.name}
                value={to[0]?.name ?? ""}
                disabled={to.length === 0}
                error={faults.name}
                maxLength={255}
                inputWrapperOrder={["label", "error", "input"]}
                onChange={(e) => {
                  const name = e.currentTarget.value;
                  setTo((now) => now.map((p) => ({ ...p, name })));
                  free("name");
                }}
              />
            )}
            {fields.map((name) => (
              <TextInput
                key={name}
                label={name}
                value={values[name] ?? ""}
                error={faults["value." + name]}
                maxLength={4096}
                inputWrapperOrder={["label", "error", "input"]}
                onChange={(e) => {
                  const text = e.currentTarget.value;
                  setValues((now) => ({ ...now, [name]: text }));
                  free("value." + name);
                }}
              />
            ))}
          </div>
        )}
        {agent?.greeting && (
          <p className="muted small send-none">
            {t.greeting} <q>{agent.greeting}</q>
          </p>
        )}
        <When
          at={when.at}
          zone={when.zone}
          error={faults.at}
          change={(x) => {
            setWhen(x);
            free("at");
          }}
        />
        <details className="send-more">
          <summary>{t.moreOptions}</summary>
          <div className="stack">
            <div className="send-pair">
              <Select
                label={t.line}
                allowDeselect={false}
                data={lines.map((l) => ({ value: l.id ?? "", label: `${l.id} · ${phone(l.number ?? "")}` }))}
                value={line}
                onChange={(v) => v && setLine(v)}
              />
              <Select
                label={t.kind}
                allowDeselect={false}
                data={(["transactional", "marketing"] as const).map((k) => ({ value: k, label: t[k] }))}
                value={kind}
                onChange={(v) => v && setKind(v)}
              />
            </div>
            <TextInput
              label={t.campaign}
              description={t.callCampaignHelp}
              inputWrapperOrder={["label", "input", "description", "error"]}
              value={campaign}
              maxLength={255}
              onChange={(e) => setCampaign(e.currentTarget.value)}
            />
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
          <Button type="submit" loading={busy} leftSection={<IconPhoneCall size={16} />}>
            {when.at ? t.schedule : t.call}
          </Button>
        </div>
      </div>
    </form>
  );
}

/** Called is how a call that was just placed goes. */
function Called({ called, again }: { called: { id: string; number: string }; again: () => void }) {
  const t = useTexts(texts);
  const n = useOne(called.id).data;
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  return (
    <section className="card send-sent" aria-label={t.result}>
      <div className="body">
        <div className="send-sent-head">
          <h2 ref={head} tabIndex={-1}>
            {fill(t.sentTo, { number: phone(called.number) })}
          </h2>
          <span role="status">{n && <Outcome of={n} />}</span>
        </div>
        <div className="send-actions">
          <Button leftSection={<IconPhoneCall size={16} />} onClick={again}>
            {t.anotherCall}
          </Button>
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/calls/$id" params={{ id: called.id }} {...props} />}
          >
            {t.openCall}
          </Button>
        </div>
        {n?.recipients[0] && <Why recipient={n.recipients[0]} />}
      </div>
    </section>
  );
}
