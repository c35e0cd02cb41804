import { because } from "../../ui/problem";
import { Button, Select, TextInput } from "@mantine/core";
import { IconLockOpen } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Note } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { useLines } from "../lines/useLines";
import { SetSecret } from "../secrets/SetSecret";
import { useSecrets } from "../secrets/useSecrets";
import { AskForm } from "./AskForm";
import { ConditionForm } from "./ConditionForm";
import { credentialOf, hostOf } from "./credential";
import { Half, Pairs, Said } from "./fields";
import { kindText } from "./Icons";
import { Message } from "./Message";
import { TemplateForm } from "./TemplateForm";
import { formTexts, texts } from "./texts";
import { errorOf, faultsAt, kindOf, named, numberOf, replace, variablesOf, walk } from "./model";
import type { Http, StepProps } from "./types";
import { useNames } from "./useNames";

/** StepForm is the fields of a step. */
export function StepForm(props: StepProps) {
  const f = useTexts(formTexts);
  const { path, step, faults, warnings, change } = props;
  return (
    <div className="form flow-fields">
      <Fields {...props} />
      {faultsAt(warnings, path).map((w) => (
        <Note key={w.field + w.reason} tone="warn">
          {because(w)}
        </Note>
      ))}
      <TextInput
        label={f.id}
        description={f.idHelp}
        spellCheck={false}
        maxLength={64}
        value={step.id ?? ""}
        error={errorOf(faults, path + ".id")}
        onChange={(e) => {
          const { id: _, ...rest } = step;
          change(e.currentTarget.value ? { id: e.currentTarget.value, ...rest } : rest);
        }}
      />
    </div>
  );
}

function Fields(props: StepProps) {
  const f = useTexts(formTexts);
  const { path, step: s, steps, faults, change } = props;
  const variables = variablesOf(steps);
  // A step that holds nothing yet is reported as a whole.
  const error = (field: string) =>
    faults.some((x) => x.field === path) ? f.required : errorOf(faults, `${path}.${field}`);
  switch (kindOf(s)) {
    case "say":
      return (
        <>
          <Said
            first
            label={f.text}
            description={f.textHelp}
            value={s.say ?? ""}
            onChange={(say) => change({ ...s, say })}
            error={error("say")}
            variables={variables}
          />
          <Message text={s.say ?? ""} steps={steps} />
        </>
      );
    case "ask":
      return <AskForm {...props} />;
    case "if":
      return <ConditionForm {...props} />;
    case "set":
      return (
        <Pairs
          label={f.values}
          value={s.set ?? {}}
          onChange={(set) => change({ ...s, set })}
          error={(n) => errorOf(faults, `${path}.set.${n}`)}
          name={f.nameOf}
          text={f.value}
          add={f.addValue}
        />
      );
    case "http":
      return <Request {...props} variables={variables} />;
    case "wait":
      return (
        <TextInput
          label={f.duration}
          description={f.durationHelp}
          spellCheck={false}
          value={s.wait ?? ""}
          onChange={(e) => change({ ...s, wait: e.currentTarget.value })}
          error={error("wait")}
          style={{ maxWidth: 240 }}
        />
      );
    case "send_template":
      return <TemplateForm {...props} />;
    case "place_call":
      return <PlaceCall {...props} />;
    case "goto":
      return <Target {...props} error={error} />;
    case "handoff":
      return (
        <Said
          rows={1}
          label={f.reason}
          description={f.reasonHelp}
          value={s.handoff ?? ""}
          onChange={(handoff) => change({ ...s, handoff })}
          error={error("handoff")}
          variables={variables}
        />
      );
    case "end":
      return (
        <p className="muted" style={{ margin: 0 }}>
          {f.endText}
        </p>
      );
  }
}

function Request({ path, step: s, faults, change, variables }: StepProps & { variables: string[] }) {
  const f = useTexts(formTexts);
  const h = s.http!;
  const set = (more: Partial<Http>) => change({ ...s, http: { ...h, ...more } });
  const error = (field: string) => errorOf(faults, `${path}.http.${field}`);
  const method = h.method ?? "GET";
  const secrets = (useSecrets().data ?? []).map((x) => "secret." + x.name);
  const all = [...variables, ...secrets];
  return (
    <>
      <Half>
        <Select
          label={f.method}
          description=" "
          value={method}
          allowDeselect={false}
          checkIconPosition="right"
          data={["GET", "POST", "PUT", "PATCH", "DELETE"]}
          onChange={(v) => set({ method: v!, ...(v === "GET" ? { body: undefined } : {}) })}
          error={error("method")}
        />
        <TextInput
          label={f.status}
          description=" "
          spellCheck={false}
          maxLength={64}
          value={h.status ?? ""}
          onChange={(e) => set({ status: e.currentTarget.value || undefined })}
          error={error("status")}
        />
      </Half>
      <p className="small muted" style={{ margin: "-8px 0 0" }}>
        {f.statusHelp}
      </p>
      <Said
        mono
        rows={1}
        label={f.url}
        description={f.urlHelp}
        value={h.url}
        onChange={(url) => set({ url: url.replace(/[\r\n]/g, "") })}
        error={error("url")}
        variables={all}
      />
      <Pairs
        label={f.headers}
        description={f.headersHelp}
        value={h.headers ?? {}}
        onChange={(headers) => set({ headers: Object.keys(headers).length ? headers : undefined })}
        error={(n) => error("headers." + n)}
        name={f.nameOf}
        text={f.value}
        add={f.addHeader}
        under={(name, value, to) => <Readable name={name} value={value} url={h.url} change={to} />}
      />
      {method !== "GET" && (
        <Said
          mono
          label={f.body}
          value={h.body ?? ""}
          onChange={(body) => set({ body: body || undefined })}
          error={error("body")}
          variables={all}
        />
      )}
      <Pairs
        label={f.save}
        description={f.saveHelp}
        value={h.save ?? {}}
        onChange={(save) => set({ save: Object.keys(save).length ? save : undefined })}
        error={(n) => error("save." + n)}
        name={f.nameOf}
        text={f.path}
        add={f.addSave}
      />
    </>
  );
}

/** Readable marks a header whose value looks like a key, and makes it a secret. */
function Readable({
  name,
  value,
  url,
  change,
}: {
  name: string;
  value: string;
  url: string;
  change: (value: string) => void;
}) {
  const f = useTexts(formTexts);
  const can = useCan()("secrets:write");
  const [making, setMaking] = useState(false);
  const found = credentialOf(name, value);
  if (!found && !making) return null;
  return (
    <div className="flow-readable small">
      <IconLockOpen size={14} aria-hidden="true" />
      <span>{can ? f.readable : f.readableAsk}</span>
      {can && (
        <Button variant="default" size="compact-xs" onClick={() => setMaking(true)}>
          {f.makeSecret}
        </Button>
      )}
      <SetSecret
        opened={making}
        close={() => setMaking(false)}
        begin={{ host: hostOf(url), value: found?.value ?? "" }}
        stored={(made) => change(`${found?.prefix ?? ""}{{secret.${made}}}`)}
      />
    </div>
  );
}

function PlaceCall({ path, step: s, faults, change }: StepProps) {
  const f = useTexts(formTexts);
  const can = useCan();
  const agents = useList("agents").data ?? [];
  const lines = useLines(false).data ?? [];
  const x = s.place_call!;
  const error = (field: string) => errorOf(faults, `${path}.place_call.${field}`);
  const known = agents.map((a) => ({ value: a.id, label: a.name }));
  return (
    <>
      <Select
        label={f.agent}
        description={f.agentHelp}
        searchable
        checkIconPosition="right"
        value={known.find((a) => a.value === x.agent || a.label === x.agent)?.value ?? null}
        data={known}
        onChange={(v) => change({ ...s, place_call: { ...x, agent: v ?? "" } })}
        error={error("agent")}
      />
      <Half>
        <Select
          label={f.line}
          placeholder={f.senderDefault}
          clearable
          checkIconPosition="right"
          disabled={!can("senders:read")}
          value={x.line ?? null}
          data={[...new Set([...lines.map((l) => l.id), ...(x.line ? [x.line] : [])])]}
          onChange={(v) => change({ ...s, place_call: { ...x, line: v ?? undefined } })}
          error={error("line")}
        />
        <TextInput
          label={f.campaign}
          placeholder="flow"
          maxLength={255}
          value={x.campaign ?? ""}
          onChange={(e) => change({ ...s, place_call: { ...x, campaign: e.currentTarget.value || undefined } })}
          error={error("campaign")}
        />
      </Half>
    </>
  );
}

/** Target chooses a step by what it does; one without an id gets one. */
function Target({
  path,
  step: s,
  steps,
  changeAll,
  change,
  error,
}: StepProps & { error: (field: string) => ReactNode }) {
  const t = useTexts(texts);
  const f = useTexts(formTexts);
  const names = useNames();
  const all: { value: string; label: string }[] = [];
  let now: string | null = null;
  walk(steps, (p, x) => {
    if (p === path) return;
    if (x.id && x.id === s.goto) now = p;
    const what = names(x);
    all.push({
      value: p,
      label: `${numberOf(p, t.yes, t.no)} · ${kindText(kindOf(x), t)}${what ? ": " + (what.length > 60 ? what.slice(0, 59) + "…" : what) : ""}`,
    });
  });
  const choose = (to: string | null) => {
    if (!to) {
      change({ ...s, goto: "" });
      return;
    }
    const n = named(steps, to);
    changeAll(replace(n.steps, path, (x) => ({ ...x, goto: n.id })));
  };
  return (
    <Select
      label={f.target}
      description={f.targetHelp}
      searchable
      checkIconPosition="right"
      data={all}
      value={now}
      onChange={choose}
      error={error("goto")}
    />
  );
}
