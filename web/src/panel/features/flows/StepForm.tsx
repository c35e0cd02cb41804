import { Autocomplete, Button, NumberInput, Select, TagsInput, TextInput } from "@mantine/core";
import "@mantine/core/styles/NumberInput.css";
import { IconLockOpen } from "@tabler/icons-react";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { useList } from "../../ui/resources";
import { useLines } from "../lines/useLines";
import { SetSecret } from "../secrets/SetSecret";
import { useSecrets } from "../secrets/useSecrets";
import { credentialOf, hostOf } from "./credential";
import { Half, Pairs, Said } from "./fields";
import { formTexts, texts } from "./texts";
import { kindText } from "./Icons";
import { errorOf, kindOf, named, numberOf, replace, summary, variablesOf, walk } from "./model";
import type { Fault, Http, Step } from "./types";
import { useTemplates } from "./useFlows";

interface Props {
  path: string;
  step: Step;
  steps: Step[];
  faults: Fault[];
  change: (to: Step) => void;
  changeAll: (steps: Step[]) => void;
}

/** StepForm is the fields of a step. */
export function StepForm(props: Props) {
  const f = useTexts(formTexts);
  const { path, step, faults, change } = props;
  return (
    <div className="form flow-fields">
      <Fields {...props} />
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

/** without leaves out what is empty. */
function without<T extends object>(x: T): T {
  return Object.fromEntries(Object.entries(x).filter(([, v]) => v !== undefined && v !== "")) as T;
}

function Fields(props: Props) {
  const f = useTexts(formTexts);
  const { path, step: s, steps, faults, change } = props;
  const variables = variablesOf(steps);
  // A step that holds nothing yet is reported as a whole.
  const error = (field: string) =>
    faults.some((x) => x.field === path) ? f.required : errorOf(faults, `${path}.${field}`);
  switch (kindOf(s)) {
    case "say":
      return (
        <Said
          label={f.text}
          description={f.textHelp}
          value={s.say ?? ""}
          onChange={(say) => change({ ...s, say })}
          error={error("say")}
          variables={variables}
        />
      );
    case "ask":
      return <Ask {...props} error={error} variables={variables} />;
    case "if":
      return (
        <Said
          mono
          rows={1}
          label={f.condition}
          description={f.conditionHelp}
          value={s.if ?? ""}
          onChange={(v) => change({ ...s, if: v.replace(/\{\{(\w+)\}\}/g, "$1") })}
          error={error("if")}
          variables={variables}
        />
      );
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
      return <Template {...props} />;
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

function Ask({
  path,
  step: s,
  faults,
  change,
  error,
  variables,
}: Props & { error: (field: string) => string; variables: string[] }) {
  const f = useTexts(formTexts);
  const choices = s.choices ?? [];
  return (
    <>
      <TextInput
        label={f.variable}
        description={f.variableHelp}
        spellCheck={false}
        maxLength={64}
        value={s.ask ?? ""}
        onChange={(e) => change({ ...s, ask: e.currentTarget.value })}
        error={error("ask")}
        style={{ maxWidth: 320 }}
      />
      <TagsInput
        label={f.choices}
        description={f.choicesHelp}
        maxTags={10}
        acceptValueOnBlur
        value={choices}
        error={errorOf(faults, path + ".choices")}
        onChange={(to) => {
          const { choices: _, ...rest } = s;
          change(to.length ? { ...rest, choices: to, accept: undefined } : rest);
        }}
      />
      {choices.length === 0 && (
        <Select
          label={f.accept}
          value={s.accept || "text"}
          allowDeselect={false}
          checkIconPosition="right"
          style={{ maxWidth: 320 }}
          error={errorOf(faults, path + ".accept")}
          onChange={(v) => change({ ...s, accept: v === "text" ? undefined : v! })}
          data={[
            { value: "text", label: f.acceptText },
            { value: "number", label: f.acceptNumber },
            { value: "email", label: f.acceptEmail },
            { value: "phone", label: f.acceptPhone },
            { value: "date", label: f.acceptDate },
            { value: "yes_no", label: f.acceptYesNo },
          ]}
        />
      )}
      <Said
        rows={1}
        label={f.retry}
        description={f.retryHelp}
        value={s.retry ?? ""}
        onChange={(v) => change({ ...s, retry: v || undefined })}
        error={errorOf(faults, path + ".retry")}
        variables={variables}
      />
      <NumberInput
        label={f.retries}
        description={f.retriesHelp}
        min={0}
        max={10}
        allowDecimal={false}
        value={s.retries ?? 2}
        onChange={(v) => change({ ...s, retries: v === "" || v === 2 ? undefined : Number(v) })}
        error={errorOf(faults, path + ".retries")}
        style={{ maxWidth: 240 }}
      />
    </>
  );
}

function Request({ path, step: s, faults, change, variables }: Props & { variables: string[] }) {
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

function Template({ path, step: s, steps, faults, change }: Props) {
  const f = useTexts(formTexts);
  const list = useTemplates().data ?? [];
  const x = s.send_template!;
  const set = (more: Partial<typeof x>) => change({ ...s, send_template: without({ ...x, ...more }) as typeof x });
  const error = (field: string) => errorOf(faults, `${path}.send_template.${field}`);
  const approved = list.filter((t) => t.status.toLowerCase() === "approved");
  const names = [...new Set(approved.map((t) => t.name))];
  const found =
    approved.find((t) => t.name === x.name && t.language === x.language) ?? approved.find((t) => t.name === x.name);
  const variables = variablesOf(steps);
  return (
    <>
      <Autocomplete
        label={f.template}
        description={f.templateHelp}
        data={names}
        value={x.name}
        spellCheck={false}
        error={error("name")}
        onChange={(name) => {
          const t = approved.find((a) => a.name === name);
          change({ ...s, send_template: { ...x, name, language: t?.language ?? x.language ?? "" } });
        }}
      />
      {found ? (
        <p className="small muted flow-body">{found.body}</p>
      ) : (
        x.name && list.length > 0 && <p className="small muted flow-body">{f.notKnown}</p>
      )}
      <Half>
        <Autocomplete
          label={f.language}
          data={[...new Set(approved.filter((t) => t.name === x.name).map((t) => t.language))]}
          value={x.language}
          spellCheck={false}
          onChange={(language) => change({ ...s, send_template: { ...x, language } })}
          error={error("language")}
        />
        <Select
          label={f.type}
          value={x.type || "utility"}
          allowDeselect={false}
          checkIconPosition="right"
          error={error("type")}
          onChange={(v) => set({ type: v === "utility" ? undefined : v! })}
          data={[
            { value: "utility", label: f.utility },
            { value: "transactional", label: f.transactional },
            { value: "marketing", label: f.marketing },
          ]}
        />
      </Half>
      {(found?.variables ?? Object.keys(x.variables ?? {})).map((key) => (
        <Said
          key={key}
          rows={1}
          label={key}
          value={x.variables?.[key] ?? ""}
          error={error("variables." + key)}
          variables={variables}
          onChange={(v) => {
            const { [key]: _, ...rest } = x.variables ?? {};
            set({ variables: v ? { ...rest, [key]: v } : rest });
          }}
        />
      ))}
      <Half>
        <Autocomplete
          label={f.sender}
          placeholder={f.senderDefault}
          data={[...new Set(list.map((t) => t.sender))]}
          value={x.sender ?? ""}
          spellCheck={false}
          onChange={(sender) => set({ sender })}
          error={error("sender")}
        />
        <TextInput
          label={f.campaign}
          placeholder="flow"
          maxLength={255}
          value={x.campaign ?? ""}
          onChange={(e) => set({ campaign: e.currentTarget.value })}
          error={error("campaign")}
        />
      </Half>
    </>
  );
}

function PlaceCall({ path, step: s, faults, change }: Props) {
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
function Target({ path, step: s, steps, changeAll, change, error }: Props & { error: (field: string) => string }) {
  const t = useTexts(texts);
  const f = useTexts(formTexts);
  const all: { value: string; label: string }[] = [];
  let now: string | null = null;
  walk(steps, (p, x) => {
    if (p === path) return;
    if (x.id && x.id === s.goto) now = p;
    const what = summary(x);
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
