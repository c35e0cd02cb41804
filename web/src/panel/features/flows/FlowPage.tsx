import "./flows.css";
import { Button, SegmentedControl, Tabs, TextInput } from "@mantine/core";
import { IconAlertCircle, IconArrowBackUp, IconCheck, IconTrash, IconUpload } from "@tabler/icons-react";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { fill, useTexts, withTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { SaveBar, useDraft } from "../../ui/draft";
import { More } from "../../ui/More";
import { Card, Failed, Page, Rows, Tag } from "../../ui/parts";
import { because, failed, succeeded } from "../../ui/problem";
import { useList } from "../../ui/resources";
import { TabList } from "../../ui/TabList";
import { shared } from "../../ui/texts";
import { flowAddressOf } from "./address";
import { Drawing } from "./Drawing";
import { formTexts, runTexts, texts } from "./texts";
import { bare, fresh, insert, numberOf, remove, replace, split, stepAt, type Kind } from "./model";
import { Runs } from "./Runs";
import { StepForm } from "./StepForm";
import { StepList } from "./StepList";
import { triggerText } from "./triggerText";
import { TriggerForm } from "./TriggerForm";
import type { Editable, Fault, Flow, Step } from "./types";
import { useFaults, useFlow, useFlowChanges } from "./useFlows";
import { useNames } from "./useNames";
import { Versions } from "./Versions";

const TryRun = lazy(withTexts(() => import("./TryRun").then((m) => ({ default: m.TryRun }))));

export function FlowPage() {
  const { id } = useParams({ from: "/shell/flows/$id" });
  return (
    <Needs permission="resources:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useFlow(id);
  if (one.data) return <Editor stored={one.data} />;
  return (
    <Page title={t.title} back={{ to: "/flows", text: t.title }}>
      {one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />}
    </Page>
  );
}

/** Editor changes a flow. What is saved is a draft; publishing makes it the flow that people talk with. */
function Editor({ stored }: { stored: Editable }) {
  const t = useTexts(texts);
  const can = useCan();
  const write = can("resources:write");
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/flows/$id" });
  const { save, publish } = useFlowChanges();
  const seen = useRef(stored.saved_at);
  seen.current = stored.saved_at;
  const [base, setBase] = useState(() => bare(stored.flow));
  useEffect(
    () => setBase((b) => (JSON.stringify(b) === JSON.stringify(bare(stored.flow)) ? b : bare(stored.flow))),
    [stored.flow],
  );
  const saved = useRef(false); // the last attempt to save worked
  const keep = useCallback(
    async (f: Flow) => {
      saved.current = false;
      const kept = await save(stored.id, f, seen.current);
      saved.current = true;
      return bare(kept.flow);
    },
    [save, stored.id],
  );
  const draft = useDraft<Flow>(base, keep);
  const { faults, warnings, checking } = useFaults(draft.value, stored);
  const [busy, setBusy] = useState(false);
  const put = async () => {
    setBusy(true);
    try {
      if (draft.dirty) {
        await draft.save();
        if (!saved.current) return;
      }
      const done = await publish(stored.id);
      succeeded(fill(t.published, { n: done.version }));
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const tab = (v: string | null) =>
    void navigate({ to: ".", replace: true, search: (now) => flowAddressOf({ ...now, tab: v }) });
  const waits = !!stored.saved_at || draft.dirty;
  const about = !stored.published
    ? t.publishFirst
    : waits
      ? stored.version
        ? fill(t.publishHelp, { n: stored.version })
        : t.notYet
      : undefined;
  return (
    <Page
      title={stored.flow.name}
      back={{ to: "/flows", text: t.title }}
      about={
        <span className="flows-head">
          {!stored.published ? (
            <Tag>{t.unpublished}</Tag>
          ) : waits ? (
            <Tag tone="accent">{t.draft}</Tag>
          ) : (
            <Tag tone="ok">{stored.version ? `${t.version} ${stored.version}` : t.isCurrent}</Tag>
          )}
          {about && <span>{about}</span>}
        </span>
      }
      actions={
        write && (
          <>
            <Seldom stored={stored} />
            <Button
              leftSection={<IconUpload size={16} />}
              loading={busy}
              disabled={checking || faults.length > 0 || !(waits || !stored.published)}
              onClick={() => void put()}
            >
              {t.publish}
            </Button>
          </>
        )
      }
    >
      <Tabs value={address.tab ?? "steps"} onChange={tab} keepMounted={false}>
        <TabList mb={16} aria-label={stored.flow.name}>
          <Tabs.Tab value="steps">{t.steps}</Tabs.Tab>
          {can("conversations:read") && <Tabs.Tab value="runs">{t.runs}</Tabs.Tab>}
          <Tabs.Tab value="versions">{t.versions}</Tabs.Tab>
        </TabList>
        <Tabs.Panel value="steps">
          <Steps
            draft={draft}
            faults={faults}
            warnings={warnings}
            checking={checking}
            write={write}
            step={address.step}
          />
        </Tabs.Panel>
        <Tabs.Panel value="runs">{can("conversations:read") && <Runs flows={[]} flow={stored.id} only />}</Tabs.Panel>
        <Tabs.Panel value="versions">
          <Versions
            id={stored.id}
            take={
              write
                ? (f, n) => {
                    draft.set(bare({ ...f, name: draft.value.name }));
                    tab("steps");
                    succeeded(fill(t.takenBack, { n }));
                  }
                : undefined
            }
          />
        </Tabs.Panel>
      </Tabs>
      {write && address.tab && <SaveBar draft={draft} />}
    </Page>
  );
}

/** Steps is the steps as a list with forms, next to their drawing and a test run. */
function Steps({
  draft,
  faults,
  warnings,
  checking,
  write,
  step,
}: {
  draft: ReturnType<typeof useDraft<Flow>>;
  faults: Fault[];
  warnings: Fault[];
  checking: boolean;
  write: boolean;
  step?: string;
}) {
  const t = useTexts(texts);
  const f = useTexts(formTexts);
  const r = useTexts(runTexts);
  const names = useNames();
  const { value: flow, set } = draft;
  const [chosen, choose] = useState(step ?? "");
  const [current, setCurrent] = useState<string | undefined>();
  const [side, setSide] = useState("drawing");
  const [begun] = useState(
    () => Object.keys(flow.trigger).length === 0 || faults.some((x) => x.field.startsWith("trigger.")),
  );
  const widgets = useList("widgets").data ?? [];
  const change = (steps: Step[], to?: string) => {
    set({ steps });
    if (to !== undefined) choose(to);
  };
  const [added, setAdded] = useState<{ path: string }>();
  const add = (kind: Kind, list: string, index: number) => {
    const path = `${list}.${index}`;
    change(insert(flow.steps, list, index, fresh(kind, flow.steps)), path);
    setAdded({ path });
  };
  const show = (path: string) => {
    choose(path);
    setTimeout(() => {
      const row = document.querySelector<HTMLElement>(`[data-row="${path}"]`);
      row?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    });
  };
  return (
    <div className="flow-columns">
      <fieldset disabled={!write} className="flow-edit">
        <Card label={t.name}>
          <div className="form flow-fields">
            <TextInput
              label={t.name}
              maxLength={200}
              value={flow.name}
              onChange={(e) => set({ name: e.currentTarget.value })}
              error={because(faults.find((x) => x.field === "name"))}
            />
          </div>
        </Card>
        <details className="card flow-begin" open={begun}>
          <summary>
            <h2>{f.trigger}</h2>
            <span className="muted">{triggerText(flow.trigger, t, widgets)}</span>
          </summary>
          <div className="body">
            <TriggerForm value={flow.trigger} change={(trigger) => set({ trigger })} faults={faults} />
          </div>
        </details>
        <Card title={t.steps} actions={<Summary faults={faults} warnings={warnings} checking={checking} show={show} />}>
          <p className="small muted flow-keys">{t.keys}</p>
          <StepList
            steps={flow.steps}
            faults={faults}
            chosen={chosen}
            current={current}
            choose={choose}
            change={write ? change : undefined}
            add={add}
            added={added}
            names={names}
            form={(path, s) => (
              <StepForm
                path={path}
                step={s}
                steps={flow.steps}
                faults={faults}
                warnings={warnings}
                change={(to) => set({ steps: replace(flow.steps, path, () => to) })}
                changeAll={change}
              />
            )}
          />
        </Card>
        {write && <SaveBar draft={draft} />}
      </fieldset>
      <div className="flow-side">
        <div className="card" data-side={side}>
          <header>
            <h2 className="hidden">{side === "try" ? r.try : t.drawing}</h2>
            <SegmentedControl
              size="xs"
              fullWidth
              aria-label={t.drawing}
              value={side}
              onChange={setSide}
              data={[{ value: "drawing", label: t.drawing }, ...(write ? [{ value: "try", label: r.try }] : [])]}
            />
          </header>
          <Drawing
            steps={flow.steps}
            chosen={stepAtOr(flow.steps, chosen)}
            current={current}
            faults={faults}
            choose={show}
            add={write ? add : undefined}
            remove={write ? (path) => change(remove(flow.steps, path), "") : undefined}
            names={names}
          />
          {side === "try" && (
            <Suspense fallback={null}>
              <TryRun flow={flow} faulty={faults.length > 0} at={setCurrent} choose={show} names={names} />
            </Suspense>
          )}
        </div>
      </div>
    </div>
  );
}

function stepAtOr(steps: Step[], path: string): string {
  return path && stepAt(steps, path) ? path : "";
}

/** Summary says what is to be fixed, and leads there. */
function Summary({
  faults,
  warnings,
  checking,
  show,
}: {
  faults: Fault[];
  warnings: Fault[];
  checking: boolean;
  show: (path: string) => void;
}) {
  const t = useTexts(texts);
  const part = (all: Fault[], one: string, many: string, style: string) => {
    const first = all.find((x) => x.field.startsWith("steps."));
    const text = all.length === 1 ? one : fill(many, { n: all.length });
    return (
      <span className={style}>
        <IconAlertCircle size={14} aria-hidden="true" />
        {first ? (
          <button type="button" onClick={() => show(stepOf(first.field))}>
            {text}
            <span className="hidden">. {fill(t.stepN, { n: numberOf(stepOf(first.field), t.yes, t.no) })}</span>
          </button>
        ) : (
          text
        )}
      </span>
    );
  };
  return (
    <span className="small flow-summary" role="status">
      {faults.length > 0
        ? part(faults, t.fault, t.faults, "flow-unready")
        : !checking && (
            <span className="flow-ready">
              <IconCheck size={14} aria-hidden="true" />
              {t.ready}
            </span>
          )}
      {warnings.length > 0 && part(warnings, t.warning, t.warnings, "flow-warned")}
    </span>
  );
}

/** stepOf is the path of the step that a field belongs to. */
export function stepOf(field: string): string {
  return /^steps(\.\d+(\.(then|else)(?=\.\d))?)+/.exec(field)?.[0] ?? split(field).list;
}

/** Seldom is what is seldom done with a flow. */
function Seldom({ stored }: { stored: Editable }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const navigate = useNavigate();
  const { drop, remove } = useFlowChanges();
  return (
    <More
      acts={[
        stored.published &&
          !!stored.saved_at && {
            label: t.dropDraft,
            icon: <IconArrowBackUp size={16} />,
            danger: true,
            ask: { title: t.dropTitle, text: t.dropText },
            run: () => drop(stored.id),
          },
        {
          label: t.remove,
          icon: <IconTrash size={16} />,
          danger: true,
          ask: { title: fill(t.removeTitle, { name: stored.flow.name }), text: t.removeText, action: s.remove },
          run: async () => {
            await remove(stored);
            succeeded(t.removed);
            void navigate({ to: "/flows", ignoreBlocker: true });
          },
        },
      ]}
    />
  );
}
