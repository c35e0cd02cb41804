import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { address, get, type Page } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Card, Failed, Note } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { jobTexts } from "./texts";
import { faultReasons, type BadRow, type FaultReason, type Job } from "./types";

/** Findings are the rows that are not sent, by reason and line by line. */
export function Findings({ job }: { job: Job }) {
  const t = useTexts(jobTexts);
  const language = useLanguage();
  const navigate = useNavigate();
  const { reason } = useSearch({ from: "/shell/send/$job" });
  const setReason = (to: FaultReason | undefined) =>
    void navigate({
      to: "/send/$job",
      params: { job: job.id },
      search: { reason: to },
      replace: true,
      resetScroll: false,
    });
  const found = faultReasons.filter((r) => (job.result.faults[r] ?? 0) > 0);
  const bad = found.reduce((n, r) => n + job.result.faults[r]!, 0);
  const n = (x: number) => number(x, language);
  if (bad === 0)
    return (
      <Note tone="ok">
        <p>
          {fill(t.allGood, { n: n(job.result.rows) })}{" "}
          {job.result.cleaned > 0 && fill(t.cleaned, { n: n(job.result.cleaned) })}
        </p>
      </Note>
    );
  return (
    <Card
      title={fill(bad === 1 ? t.badOne : t.badMany, { n: n(bad), all: n(job.rows) })}
      actions={
        <Button
          size="compact-sm"
          variant="default"
          component="a"
          href={address(`/send/jobs/${job.id}/rows.csv`)}
          leftSection={<IconDownload size={14} />}
        >
          {t.download}
        </Button>
      }
    >
      {job.result.cleaned > 0 && <p className="muted send-none">{fill(t.cleaned, { n: n(job.result.cleaned) })}</p>}
      <div className="send-reasons" role="group" aria-label={t.byReason}>
        <button type="button" aria-pressed={!reason} onClick={() => setReason(undefined)}>
          {t.anyReason}
          <b>{n(bad)}</b>
        </button>
        {found.map((r) => (
          <button key={r} type="button" aria-pressed={reason === r} onClick={() => setReason(r)}>
            {t[r]}
            <b>{n(job.result.faults[r]!)}</b>
          </button>
        ))}
      </div>
      <BadRows job={job} reason={reason} />
    </Card>
  );
}

function BadRows({ job, reason }: { job: Job; reason?: FaultReason }) {
  const t = useTexts(jobTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const list = useInfiniteQuery({
    queryKey: [company.id, "send", "rows", job.id, reason ?? "", job.result.good],
    initialPageParam: "",
    getNextPageParam: (p: Page<BadRow>) => p.next_cursor ?? undefined,
    queryFn: ({ pageParam, signal }) =>
      get(`/send/jobs/${job.id}/rows`, { reason, limit: 25, cursor: pageParam }, signal),
  });
  if (list.isPending)
    return (
      <p className="muted" role="status">
        {s.loading}
      </p>
    );
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  const rows = list.data.pages.flatMap((p) => p.data);
  const why = (r: BadRow) =>
    r.reason === "duplicate"
      ? fill(t.sameAs, { line: r.detail ?? "" })
      : r.reason === "variable_missing"
        ? r.detail
        : r.detail;
  return (
    <>
      <div className="table-wrap send-sheet" tabIndex={0} role="region" aria-label={t.badRows}>
        <table className="table">
          <thead>
            <tr>
              <th className="send-line">{t.line}</th>
              <th>{t.reason}</th>
              {job.settings.columns.map((c, i) => (
                <th key={i}>
                  <span className="cut send-column">{c.name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((r) => (
              <tr key={r.line}>
                <td className="send-line">{r.line}</td>
                <td className="send-why">
                  <div>{t[r.reason]}</div>
                  {why(r) && <div className="small muted">{why(r)}</div>}
                </td>
                {r.cells.map((c, i) => (
                  <td key={i}>
                    <span className="send-cell cut" title={c}>
                      {c || <span className="muted">–</span>}
                    </span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {list.hasNextPage && (
        <div className="send-actions">
          <Button
            variant="default"
            size="compact-sm"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {s.more}
          </Button>
        </div>
      )}
    </>
  );
}
