import { Button, Select, Switch, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Problem } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Card, Failed, Note, Rows } from "../../ui/parts";
import { succeeded, why } from "../../ui/problem";
import { useList } from "../../ui/resources";
import { refusal } from "./RegisterCard";
import { callsTexts } from "./texts";
import type { Calls } from "./types";
import { useCalls, useSenderChanges } from "./useSenders";

/** CallsCard switches calls over WhatsApp on, says how they are and explains refusals of Meta. */
export function CallsCard({ id }: { id: string }) {
  const t = useTexts(callsTexts);
  const one = useCalls(id);
  return (
    <Card title={t.title}>
      {one.data ? (
        <Form key={String(one.data.on)} id={id} stored={one.data} />
      ) : one.isError ? (
        <Failed error={one.error} retry={() => void one.refetch()} />
      ) : (
        <Rows />
      )}
    </Card>
  );
}

const fieldOf = (e: unknown) =>
  e instanceof Problem ? (e.details as Record<string, unknown> | undefined)?.field : undefined;

function Form({ id, stored }: { id: string; stored: Calls }) {
  const t = useTexts(callsTexts);
  const can = useCan()("senders:write");
  const agents = useList("agents");
  const { setCalls } = useSenderChanges();
  const [value, setValue] = useState(stored);
  const [problem, setProblem] = useState<{ field: unknown; text: ReactNode }>();
  const [busy, setBusy] = useState(false);
  const change = (x: Partial<Calls>) => {
    setValue({ ...value, ...x });
    setProblem(undefined);
  };
  const error = (field: string) => (problem?.field === field ? problem.text : undefined);
  const save = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const { on, hostname, port, agent } = value;
      await setCalls(id, on ? { on, hostname: hostname.trim(), port, ...(agent && { agent }) } : { on });
      succeeded(on ? t.turnedOn : t.turnedOff);
    } catch (e) {
      setProblem({ field: fieldOf(e), text: refusal(e, t as Record<string, string>) ?? why(e) });
    } finally {
      setBusy(false);
    }
  };
  const all = (agents.data ?? []).map((a) => ({ value: a.id, label: a.name }));
  const fields = ["hostname", "port", "agent"];
  const fault = stored.breaker?.state === "closed" ? undefined : stored.breaker?.detail;
  return (
    <form className="stack" style={{ gap: 12 }} onSubmit={(e) => void save(e)} noValidate>
      <p className="muted flat">{stored.on ? fill(t.onAbout, { line: stored.line }) : t.about}</p>
      {fault && <Note tone="warn">{fill(t.fault, { detail: fault })}</Note>}
      {problem && !fields.includes(String(problem.field)) && <Note tone="danger">{problem.text}</Note>}
      <Switch
        label={t.on}
        checked={value.on}
        disabled={!can}
        onChange={(e) => change({ on: e.currentTarget.checked })}
      />
      {value.on && (
        <>
          <TextInput
            label={t.hostname}
            description={t.hostnameHelp}
            placeholder="sip.example.com"
            value={value.hostname}
            disabled={!can}
            onChange={(e) => change({ hostname: e.currentTarget.value })}
            error={error("hostname")}
          />
          <TextInput
            label={t.port}
            description={t.portHelp}
            type="number"
            min={1}
            value={value.port}
            disabled={!can}
            onChange={(e) => change({ port: Math.trunc(Number(e.currentTarget.value) || 0) })}
            error={error("port")}
          />
          <Select
            label={t.agent}
            description={t.agentHelp}
            placeholder={t.nobody}
            disabled={!can}
            clearable
            clearButtonProps={{ "aria-label": t.nobody }}
            data={
              value.agent && !all.some((a) => a.value === value.agent)
                ? [...all, { value: value.agent, label: value.agent }]
                : all
            }
            value={value.agent || null}
            onChange={(agent) => change({ agent: agent ?? "" })}
            error={error("agent")}
          />
        </>
      )}
      {can && (value.on || stored.on) && (
        <div>
          <Button type="submit" variant="default" size="compact-sm" loading={busy}>
            {t.save}
          </Button>
        </div>
      )}
    </form>
  );
}
