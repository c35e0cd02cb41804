import "@mantine/core/styles/Progress.css";
import "./send.css";
import { Button, Progress } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { del, patch, Problem } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Lost, Needs } from "../../shell/states";
import { Card, Failed, Note, Page, Rows } from "../../ui/parts";
import { Told } from "../../ui/Told";
import { More } from "../../ui/More";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { DryRun } from "./DryRun";
import { Findings } from "./Findings";
import { JobEditor } from "./JobEditor";
import { JobTag } from "./JobTag";
import { jobTexts } from "./texts";
import { span, usePace } from "./pace";
import { Later } from "./Later";
import { Running } from "./Running";
import type { Job, Template } from "./types";
import { useEdits, useJob } from "./useJob";
import { useTemplates } from "./useTemplates";

export function JobPage() {
  return (
    <Needs permission="notifications:send">
      <Loaded />
    </Needs>
  );
}

function Loaded() {
  const t = useTexts(jobTexts);
  const { job: id } = useParams({ from: "/shell/send/$job" });
  const at = useJob(id);
  const templates = useTemplates();
  const back = { to: "/send", text: t.back, search: { tab: "files" } };
  if (at.query.error instanceof Problem && at.query.error.status === 404) return <Lost />;
  if (at.query.isPending || templates.isPending)
    return (
      <Page title={t.job} back={back}>
        <Rows n={6} />
      </Page>
    );
  if (!at.query.data || !templates.data)
    return (
      <Page title={t.job} back={back}>
        <Failed
          error={at.query.data ? templates.error : at.query.error}
          retry={() => {
            void at.query.refetch();
            void templates.refetch();
          }}
        />
      </Page>
    );
  return <Opened key={id} job={at.query.data} templates={templates.data} at={at} back={back} />;
}

function Opened({
  job,
  templates,
  at,
  back,
}: {
  job: Job;
  templates: Template[];
  at: ReturnType<typeof useJob>;
  back: { to: string; text: string; search: Record<string, unknown> };
}) {
  const t = useTexts(jobTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const navigate = useNavigate();
  const client = useQueryClient();
  const company = useCompany();
  const edits = useEdits(job, at.kept, at.reload);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    window.scrollTo({ top: 0 });
  }, [job.state === "checked", job.begun_at]);
  const change = async () => {
    setBusy(true);
    try {
      at.kept(await patch(`/send/jobs/${job.id}`, { version: job.settings.version }));
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const remove = async () => {
    await del(`/send/jobs/${job.id}`);
    client.removeQueries({ queryKey: [company.id, "send", "jobs", job.id] });
    void client.invalidateQueries({ queryKey: [company.id, "send", "jobs"], exact: true });
    succeeded(t.removed);
    void navigate({ to: "/send", search: { tab: "files" } });
  };
  const about = (
    <>
      {fill(t.aboutRows, { n: number(job.rows, language) })}
      {job.author && ` · ${fill(t.by, { name: job.author })}`}
    </>
  );
  const idle = !["sending", "canceling"].includes(job.state);
  return (
    <Page
      title={job.file}
      about={about}
      back={back}
      actions={
        <span className="send-head">
          <JobTag job={job} />
          {job.state === "checked" && (
            <Button
              variant="default"
              loading={busy}
              leftSection={<IconPencil size={16} />}
              onClick={() => void change()}
            >
              {t.change}
            </Button>
          )}
          <More
            acts={[
              idle && {
                label: s.remove,
                icon: <IconTrash size={16} />,
                danger: true,
                ask: { title: t.removeTitle, text: job.begun_at ? t.removeSent : t.removeText },
                run: remove,
              },
            ]}
          />
        </span>
      }
    >
      <div className="stack send-job" data-state={job.state}>
        {job.state === "draft" && job.reason && (
          <Note tone="danger">
            <p>{(t as Record<string, string>)["paused_" + job.reason] ?? t.paused_problem}</p>
            {job.detail && (
              <p className="small">
                <Told text={job.detail} />
              </p>
            )}
          </Note>
        )}
        {job.state === "draft" && (
          <Later>
            <JobEditor templates={templates} edits={edits} act={at.act} />
          </Later>
        )}
        {job.state === "checking" && <Checking job={job} stop={change} />}
        {job.state === "checked" && (
          <>
            <Later>
              <DryRun job={job} send={(recipients, again) => at.act("send", { recipients, again })} />
            </Later>
            <Later>
              <Findings job={job} />
            </Later>
          </>
        )}
        {["sending", "paused", "canceling", "done", "canceled", "failed"].includes(job.state) && (
          <>
            <Running job={job} act={at.act} />
            {job.result.rows > 0 && Object.keys(job.result.faults).length > 0 && (
              <Later>
                <Findings job={job} />
              </Later>
            )}
          </>
        )}
      </div>
    </Page>
  );
}

function Checking({ job, stop }: { job: Job; stop: () => Promise<void> }) {
  const t = useTexts(jobTexts);
  const language = useLanguage();
  const pace = usePace(job.checked, true);
  return (
    <Card title={t.checking}>
      <div role="status" className="stack">
        <div className="send-count">
          <b>{fill(t.checkedOf, { n: number(job.checked, language), all: number(job.rows, language) })}</b>
          <span className="muted">
            {pace ? fill(t.timeLeft, { left: span((job.rows - job.checked) / pace, language) }) : ""}
          </span>
        </div>
        <Progress value={(job.checked / job.rows) * 100} animated aria-label={t.checking} transitionDuration={300} />
        <p className="muted small send-none">{t.leaveTab}</p>
        <div className="send-actions">
          <Button variant="default" size="compact-md" onClick={() => void stop()}>
            {t.stop}
          </Button>
        </div>
      </div>
    </Card>
  );
}
