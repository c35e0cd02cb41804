import "@mantine/core/styles/Progress.css";
import "./usage.css";
import { Progress, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { absolute, number, percent, relative } from "../../format";
import { useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { useNow } from "../../ui/Ago";
import { Chart, type Series } from "../../ui/chart/Chart";
import { Card, Failed, Note, Page } from "../../ui/parts";
import { Charges } from "./Charges";
import { texts } from "./texts";
import { pointsOfDays, type Usage, type Used } from "./usage";

export function UsagePage() {
  return (
    <Needs permission="notifications:read">
      <Loaded />
    </Needs>
  );
}

function Loaded() {
  const t = useTexts(texts);
  const company = useCompany();
  const one = useQuery({
    queryKey: [company.id, "usage"],
    queryFn: ({ signal }) => get("/usage", {}, signal),
    refetchInterval: 15_000,
  });
  return (
    <Page title={t.title}>
      {one.data ? (
        <Shown usage={one.data} />
      ) : one.isError ? (
        <Card flush label={t.title}>
          <Failed error={one.error} retry={() => void one.refetch()} />
        </Card>
      ) : (
        <div className="stack">
          <div className="card pad">
            <Skeleton height={92} />
          </div>
          <div className="card pad">
            <Skeleton height={220} />
          </div>
        </div>
      )}
    </Page>
  );
}

function Shown({ usage: u }: { usage: Usage }) {
  const t = useTexts(texts);
  return (
    <div className="stack">
      <Today usage={u} />
      <Days usage={u} />
      <Charges />
      <Limits usage={u} />
      <Card title={t.callsTitle}>
        <Calls usage={u} />
      </Card>
    </div>
  );
}

function Today({ usage: u }: { usage: Usage }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  const n = (x: number) => number(x, language);
  const full = u.quota > 0 && u.used >= u.quota;
  const near = u.quota > 0 && u.used * 100 >= u.quota * 80;
  return (
    <Card title={t.today}>
      <div className="usage-today">
        <div>
          <b>{n(u.used)}</b>
          <span className="muted">
            {u.quota > 0
              ? fill(t.ofQuota, { quota: n(u.quota), share: percent(u.used, u.quota, language) })
              : t.noQuota}
          </span>
        </div>
        {u.quota > 0 && (
          <div className="usage-left">
            <b>{n(Math.max(0, u.quota - u.used))}</b>
            <span className="muted">{t.left}</span>
          </div>
        )}
      </div>
      {u.quota > 0 && (
        <Progress
          value={Math.min(100, (u.used / u.quota) * 100)}
          size="lg"
          color={near ? "red" : undefined}
          aria-label={t.today}
        />
      )}
      {u.quota > 0 && (
        <p className="small muted" title={absolute(u.reset_time, language)}>
          {fill(t.reset, {
            when: relative(u.reset_time, language, Math.max(now, Date.now() - 20_000)),
            time: absolute(u.reset_time, language),
          })}
        </p>
      )}
      {full && (
        <Note tone="danger">
          <p>{t.full}</p>
        </Note>
      )}
    </Card>
  );
}

function Days({ usage: u }: { usage: Usage }) {
  const t = useTexts(texts);
  const series: Series<Used>[] = [
    { key: "used", label: t.recipients, color: "middle" },
    { key: "full", label: t.quotaFull, color: "bad" },
  ];
  return (
    <Chart title={t.days} points={pointsOfDays(u)} unit="day" series={series} none={t.noDays} note={t.daysMeaning} />
  );
}

function Limits({ usage: u }: { usage: Usage }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const rows: { name: string; about: string; value: number; unit: string }[] = [
    { name: t.sends, about: t.sendsAbout, value: u.limits.sends_per_minute, unit: t.perMinuteKey },
    { name: t.daily, about: t.dailyAbout, value: u.limits.daily_recipients, unit: t.perDay },
    { name: t.dailyCalls, about: t.dailyCallsAbout, value: u.limits.daily_calls, unit: t.perDay },
    { name: t.bytes, about: t.bytesAbout, value: u.limits.daily_bytes, unit: t.bytesPerDay },
    { name: t.templates, about: t.templatesAbout, value: u.limits.templates_per_day, unit: t.perDay },
    { name: t.lists, about: t.listsAbout, value: u.limits.lists_per_minute, unit: t.perMinuteKey },
    {
      name: t.templateLists,
      about: t.templateListsAbout,
      value: u.limits.template_lists_per_minute,
      unit: t.perMinuteKey,
    },
    { name: t.widgets, about: t.widgetsAbout, value: u.limits.widget_calls_per_minute, unit: t.perMinuteAddress },
    { name: t.engineTurns, about: t.engineTurnsAbout, value: u.limits.engine_turns_per_day, unit: t.perDay },
  ];
  return (
    <Card title={t.limits} flush>
      <div className="table-wrap">
        <table className="table usage-limits">
          <thead>
            <tr>
              <th>{t.limit}</th>
              <th>{t.value}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((r) => (
              <tr key={r.name}>
                <td>
                  <b className="row-title">{r.name}</b>
                  <p className="small muted usage-about">{r.about}</p>
                </td>
                <td>
                  {r.value === 0 ? (
                    t.unlimited
                  ) : (
                    <>
                      <b>{number(r.value, language)}</b> <span className="small muted">{r.unit}</span>
                    </>
                  )}
                </td>
              </tr>
            ))}
            <tr>
              <td>
                <b className="row-title">{t.retention}</b>
                <p className="small muted usage-about">{t.retentionAbout}</p>
              </td>
              <td>
                {u.retention_days === 0 ? (
                  t.forEver
                ) : (
                  <>
                    <b>{number(u.retention_days, language)}</b> <span className="small muted">{t.daysUnit}</span>
                  </>
                )}
              </td>
            </tr>
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Calls({ usage: u }: { usage: Usage }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const n = (x: number) => number(x, language);
  if (u.calls.placed === 0) return <p className="muted">{t.noCalls}</p>;
  return (
    <p>
      {fill(t.calls, {
        placed: n(u.calls.placed),
        dialed: n(u.calls.dialed),
        answered: n(u.calls.answered),
        share: percent(u.calls.answered, u.calls.dialed, language),
      })}
    </p>
  );
}
