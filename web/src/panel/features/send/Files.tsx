import { Button, Progress, Select } from "@mantine/core";
import { IconDownload, IconFileSpreadsheet, IconUpload } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type DragEvent } from "react";
import { address, patch, Problem, Unreachable } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { Foot, List, type Column } from "../../ui/list/List";
import { Card, Empty, Failed, Note, Rows } from "../../ui/parts";
import { requestOf, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { id } from "../../ui/id";
import { JobTag } from "./JobTag";
import { jobTexts } from "./texts";
import type { JobRow } from "./types";
import { fileMost, upload } from "./upload";
import { useJobs } from "./useJob";
import { useTemplates } from "./useTemplates";
import { forFiles, kindOf } from "./types";

/** Files takes a file, and lists the jobs that were made of files. */
export function Files({ template, choose }: { template?: string; choose: (id: string | undefined) => void }) {
  const t = useTexts(jobTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const columns = useColumns();
  const jobs = useJobs();
  return (
    <div className="stack">
      <Drop template={template} choose={choose} />
      {jobs.isPending ? (
        <Rows n={3} />
      ) : jobs.isLoadingError ? (
        <Failed error={jobs.error} retry={() => void jobs.refetch()} />
      ) : jobs.data.length === 0 ? (
        <Card flush label={t.jobs}>
          <Empty icon={<IconFileSpreadsheet size={22} />} title={t.none} text={t.noneText} />
        </Card>
      ) : (
        <List
          label={t.jobs}
          columns={columns}
          rows={jobs.data}
          id={(j) => j.id}
          name={(j) => j.file}
          target={(j) => ({ to: "/send/$job", params: { job: j.id } })}
          foot={
            <Foot
              shown={number(jobs.data.length, language)}
              more={
                jobs.hasNextPage && (
                  <Button variant="default" loading={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
                    {s.more}
                  </Button>
                )
              }
            />
          }
        />
      )}
    </div>
  );
}

/** useColumns are what the list shows of a job. */
function useColumns(): Column<JobRow>[] {
  const t = useTexts(jobTexts);
  const language = useLanguage();
  const text = (x: string) => (x ? <span title={x}>{x}</span> : <span className="muted">–</span>);
  return [
    { id: "file", label: t.file, fixed: true, cell: (j) => <span className="cut">{j.file}</span> },
    {
      id: "template",
      label: t.message,
      from: "tablet",
      cell: (j) => text([j.template, j.campaign].filter(Boolean).join(" · ")),
    },
    { id: "state", label: t.state, width: 150, cell: (j) => <JobTag job={j} /> },
    {
      id: "rows",
      label: t.rows,
      width: 150,
      from: "tablet",
      end: true,
      cell: (j) =>
        j.begun_at
          ? fill(t.ofRows, { n: number(j.result.accepted, language), all: number(j.result.good, language) })
          : number(j.rows, language),
    },
    { id: "author", label: t.author, width: 150, from: "desktop", cell: (j) => text(j.author ?? "") },
    { id: "made", label: t.made, width: 128, from: "tablet", cell: (j) => <Ago at={j.created_at} /> },
  ];
}

/** same reports whether two files are the same as far as the browser knows. */
function same(a: File, b: File): boolean {
  return a.name === b.name && a.size === b.size && a.lastModified === b.lastModified;
}

/** again reports whether it helps to upload a file once more after an error. */
function again(e: unknown): boolean {
  return (
    e instanceof Unreachable ||
    (e instanceof Problem && (e.status >= 500 || e.code === "idempotency_in_progress" || e.status === 429))
  );
}

/** Sample offers a file with the columns of a template. */
function Sample({ template, choose }: { template?: string; choose: (id: string | undefined) => void }) {
  const t = useTexts(jobTexts);
  const templates = useTemplates();
  const approved = forFiles(templates.data ?? []).filter((x) => x.status === "approved");
  const chosen = approved.find((x) => x.id === template);
  if (approved.length === 0) return null;
  const link = (format: "xlsx" | "csv", name: string) => (
    <Button
      size="compact-sm"
      variant="light"
      component="a"
      href={chosen && address("/send/sample", { template: chosen.id, format })}
      disabled={!chosen}
      aria-disabled={!chosen}
      leftSection={<IconDownload size={14} />}
    >
      {name}
    </Button>
  );
  return (
    <div className="send-sample" role="group" aria-label={t.sampleFile}>
      <Select
        size="xs"
        label={t.sampleFile}
        placeholder={t.sampleChoose}
        searchable
        value={chosen?.id ?? null}
        data={approved.map((x) => ({ value: x.id, label: `${x.name} (${x.language})` }))}
        onChange={(id) => choose(id ?? undefined)}
      />
      {link("xlsx", "Excel")}
      {link("csv", "CSV")}
    </div>
  );
}

/** Drop is where a file is put, or chosen. */
function Drop({ template, choose }: { template?: string; choose: (id: string | undefined) => void }) {
  const t = useTexts(jobTexts);
  const language = useLanguage();
  const navigate = useNavigate();
  const templates = useTemplates();
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [part, setPart] = useState<number>();
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  const last = useRef<{ file: File; key: string }>(undefined); // that can be sent again
  useEffect(() => () => stop.current?.abort(), []);
  const send = async (file: File | undefined) => {
    if (!file || part !== undefined) return;
    if (/\.(xls|ods|numbers)$/i.test(file.name)) {
      setProblem(t.notRead);
      return;
    }
    if (file.size > fileMost) {
      setProblem(fill(t.tooLarge, { size: number(Math.ceil(file.size / 1048576), language) }));
      return;
    }
    setProblem(undefined);
    setName(file.name);
    setPart(0);
    stop.current = new AbortController();
    if (!last.current || !same(last.current.file, file)) last.current = { file, key: id() };
    try {
      const job = await upload(file, last.current.key, setPart, stop.current.signal);
      last.current = undefined;
      const x = forFiles(templates.data ?? []).find((y) => y.id === template && y.status === "approved");
      if (x)
        await patch(`/send/jobs/${job.id}`, {
          version: job.settings.version,
          template: x.name,
          language: x.language,
          sender: x.sender,
          type: kindOf(x),
        }).catch(() => {
          /* it is chosen there */
        });
      void navigate({ to: "/send/$job", params: { job: job.id } });
    } catch (e) {
      if (!(e instanceof DOMException)) setProblem(e);
      if (!again(e)) last.current = undefined;
      setPart(undefined);
    }
  };
  const dropped = (e: DragEvent) => {
    e.preventDefault();
    setOver(false);
    void send(e.dataTransfer.files[0]);
  };
  return (
    <section
      className="card send-drop"
      data-over={over ? "yes" : undefined}
      aria-label={t.upload}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      <input
        ref={input}
        type="file"
        accept=".csv,.tsv,.txt,.xlsx,text/csv,text/tab-separated-values,text/plain,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        hidden
        aria-label={t.choose}
        onChange={(e) => {
          void send(e.currentTarget.files?.[0]);
          e.currentTarget.value = "";
        }}
      />
      {part === undefined ? (
        <>
          <IconUpload size={22} aria-hidden="true" />
          <p>
            <strong>{t.dropHere}</strong>
          </p>
          <p className="muted small">{t.dropText}</p>
          <Button variant="default" onClick={() => input.current?.click()}>
            {t.choose}
          </Button>
          <Sample template={template} choose={choose} />
        </>
      ) : (
        <div className="send-uploading" role="status">
          <p className="cut">{part < 1 ? fill(t.uploading, { name }) : fill(t.reading, { name })}</p>
          <Progress value={part * 100} animated={part >= 1} aria-label={t.upload} transitionDuration={150} />
          <Button size="compact-sm" variant="subtle" color="gray" onClick={() => stop.current?.abort()}>
            {t.stop}
          </Button>
        </div>
      )}
      {problem !== undefined && (
        <Note tone="danger">
          <p>{typeof problem === "string" ? problem : why(problem)}</p>
          {requestOf(problem) && <p className="small">{requestOf(problem)}</p>}
          {again(problem) && last.current && (
            <Button mt={8} size="compact-sm" variant="default" onClick={() => void send(last.current?.file)}>
              {t.uploadAgain}
            </Button>
          )}
        </Note>
      )}
    </section>
  );
}
