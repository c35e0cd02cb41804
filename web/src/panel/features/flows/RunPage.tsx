import "./flows.css";
import { Button } from "@mantine/core";
import { IconMessages, IconPlayerStop, IconRouteOff } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { post, Problem } from "../../api";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import { Card, Empty, Failed, Note, Page, Rows, ToList } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { time } from "../calls/format";
import { Drawing } from "./Drawing";
import { Changed, entryText, Place, FailedAt } from "./Log";
import { channelOf, whoOf } from "./Runs";
import { RunState } from "./RunState";
import { runTexts, texts } from "./texts";
import { StepList } from "./StepList";
import type { Run } from "./types";
import { useNames } from "./useNames";
import { useRun } from "./useFlows";

export function RunPage() {
  const { id } = useParams({ from: "/shell/flows/runs/$id" });
  return (
    <Needs permission="conversations:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const r = useTexts(runTexts);
  const t = useTexts(texts);
  const one = useRun(id);
  if (one.data) return <Shown run={one.data} />;
  const gone = one.error instanceof Problem && one.error.status === 404;
  return (
    <Page title={r.run} back={{ to: "/flows", text: t.runs, search: { tab: "runs" } }}>
      {gone ? (
        <Empty icon={<IconRouteOff size={22} />} title={r.gone} text={r.goneText}>
          <ToList />
        </Empty>
      ) : one.isError ? (
        <Failed error={one.error} retry={() => void one.refetch()} />
      ) : (
        <Rows />
      )}
    </Page>
  );
}

function Shown({ run }: { run: Run }) {
  const t = useTexts(texts);
  const r = useTexts(runTexts);
  const language = useLanguage();
  const names = useNames();
  const [chosen, choose] = useState("");
  const steps = run.definition?.steps ?? [];
  const name = run.flow || run.definition?.name || t.removedFlow;
  const causes: Record<string, string> = {
    event: fill(r.causeEvent, { event: run.event }),
    keyword: r.causeKeyword,
    widget: r.causeWidget,
    inbound: r.causeInbound,
    test: r.causeTest,
  };
  const at = run.path === "end" ? "" : run.path;
  const show = (path: string) => {
    choose(path);
    document.querySelector(`[data-row="${path}"]`)?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  };
  return (
    <Page
      title={whoOf(run, r.unnamed)}
      back={{ to: "/flows", text: t.runs, search: { tab: "runs" } }}
      actions={<Actions run={run} />}
      about={
        <span className="flows-head">
          <RunState state={run.state} />
          <span>{channelOf(run.channel, r)}</span>
          {run.flow ? (
            <Link to="/flows/$id" params={{ id: run.flow_id }}>
              {name}
            </Link>
          ) : (
            name
          )}
          <span>
            {t.version} {run.version}
          </span>
          <span>
            {r.cause} {causes[run.cause] ?? run.cause}
          </span>
          <Ago at={run.started_at} />
        </span>
      }
    >
      <div className="stack">
        {run.error && (
          <Note tone="danger">
            <FailedAt error={run.error} />
            {at && (
              <Button variant="default" size="compact-sm" mt={8} onClick={() => show(at)}>
                {r.toStep}
              </Button>
            )}
          </Note>
        )}
        {run.open && run.due_at && (
          <Note>
            {r.due} {absolute(run.due_at, language)}
          </Note>
        )}
        <div className="flow-columns">
          <div className="stack">
            <Card title={r.what}>
              <ol className="flow-log">
                {run.entries.map((e, i) => (
                  <li key={i} data-kind={e.kind}>
                    <Place path={e.path} choose={show} />
                    <span className="flow-what">
                      <span>{entryText(e, t, r)}</span>
                      <Changed of={e.changed} />
                    </span>
                    <time className="small muted nowrap" dateTime={e.at} title={absolute(e.at, language)}>
                      {time(e.at, language, true)}
                    </time>
                  </li>
                ))}
              </ol>
            </Card>
            <Values title={r.variables} of={run.variables ?? {}} />
          </div>
          <div className="stack">
            {steps.length > 0 && (
              <div className="card">
                <Drawing
                  steps={steps}
                  chosen={chosen}
                  current={run.open || run.error ? at || undefined : undefined}
                  faults={[]}
                  choose={show}
                  names={names}
                />
              </div>
            )}
            {steps.length > 0 && (
              <Card title={t.steps}>
                <StepList
                  steps={steps}
                  faults={[]}
                  chosen={chosen}
                  current={run.open || run.error ? at || undefined : undefined}
                  choose={choose}
                  names={names}
                />
              </Card>
            )}
          </div>
        </div>
      </div>
    </Page>
  );
}

/** Values is a table of variables. */
export function Values({ title, of: values }: { title: string; of: Record<string, string> }) {
  const r = useTexts(runTexts);
  const all = Object.entries(values).sort(([a], [b]) => a.localeCompare(b));
  return (
    <Card title={title}>
      {all.length === 0 ? (
        <p className="muted" style={{ margin: 0 }}>
          {r.none}
        </p>
      ) : (
        <dl className="flow-values">
          {all.map(([n, v]) => (
            <div key={n}>
              <dt>
                <code>{n}</code>
              </dt>
              <dd>{v || <span className="muted">–</span>}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}

function Actions({ run }: { run: Run }) {
  const r = useTexts(runTexts);
  const can = useCan();
  const company = useCompany();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const stop = async () => {
    if (!(await confirm({ title: r.stopTitle, text: r.stopText, action: r.stop, danger: true }))) return;
    setBusy(true);
    try {
      client.setQueryData([company.id, "flow-runs", "one", run.id], await post(`/flow-runs/${run.id}/stop`));
      succeeded(r.stoppedIt);
    } catch (e) {
      failed(e);
      void client.invalidateQueries({ queryKey: [company.id, "flow-runs"] });
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconMessages size={16} />}
        renderRoot={(props) => <Link to="/inbox" search={{ folder: "all", c: run.conversation_id }} {...props} />}
      >
        {r.conversation}
      </Button>
      {run.open && can("conversations:answer") && (
        <Button
          color="red"
          variant="light"
          loading={busy}
          leftSection={<IconPlayerStop size={16} />}
          onClick={() => void stop()}
        >
          {r.stop}
        </Button>
      )}
    </>
  );
}
