import "@mantine/core/styles/Progress.css";
import "../notifications/notifications.css";
import "./campaigns.css";
import { Button } from "@mantine/core";
import { IconDownload, IconListDetails, IconSpeakerphone } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { address as addressAt, get, Problem } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts, withTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { Empty, Failed, Page, Rows, ToList } from "../../ui/parts";
import { useRate } from "../../ui/Rate";
import { rateOf } from "../../ui/rates";
import { time } from "../calls/format";
import { Outcome } from "../notifications/State";
import { Funnel } from "./Funnel";
import { Reached } from "./Reached";
import { texts } from "./texts";
import { addressOf, figuresOf, queryOf, sendingsOf, type Address, type Campaign } from "./types";
import { Why } from "./Why";

const Timeline = lazy(withTexts(() => import("./Timeline")));

export function CampaignPage() {
  const { name } = useParams({ from: "/shell/campaigns/$name" });
  return (
    <Needs permission="notifications:read">
      <Loaded key={name} name={name} />
    </Needs>
  );
}

const beat = 5000;

function Loaded({ name }: { name: string }) {
  const t = useTexts(texts);
  const company = useCompany();
  const one = useQuery({
    queryKey: [company.id, "campaigns", name],
    queryFn: ({ signal }) => get("/campaigns/one", { name }, signal),
    refetchInterval: beat,
    retry: (times, e) => times < 2 && !(e instanceof Problem && e.status < 500),
  });
  if (one.data) return <Shown campaign={one.data} />;
  const gone = one.error instanceof Problem && one.error.status === 404;
  return (
    <Page title={name} back={{ to: "/campaigns", text: t.title }}>
      {gone ? (
        <Empty icon={<IconSpeakerphone size={22} />} title={t.gone} text={t.goneText}>
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

function Shown({ campaign: c }: { campaign: Campaign }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/campaigns/$name" });
  const go = useCallback(
    (to: Address) =>
      void navigate({
        to: "/campaigns/$name",
        params: { name: c.name },
        replace: true,
        resetScroll: false,
        search: (now) => addressOf({ ...now, ...to }),
      }),
    [navigate, c.name],
  );
  const n = (v: number) => number(v, language);
  const rate = useRate();
  const figures = figuresOf(c);
  const narrowed = !!address.show || !!address.reason;
  const [messages, calls] = [c.messages?.accepted ?? 0, c.calls?.accepted ?? 0];
  const rest = (["waiting", "unconfirmed", "failed", "left_out"] as const).filter(
    (name) => rateOf(name, figures).part > 0,
  );
  return (
    <Page
      title={c.name}
      back={{ to: "/campaigns", text: t.title }}
      about={
        <span className="sent-head">
          <Outcome of={sendingsOf(c)} />
          <span>
            {[[messages, t.messagesOne, t.messagesN] as const, [calls, t.callsOne, t.callsN] as const]
              .filter(([count]) => count > 0)
              .map(([count, one, many]) => fill(count === 1 ? one : many, { n: n(count) }))
              .join(", ")}
          </span>
          <span>
            {t.lastUsed} <Ago at={c.last_at} />
          </span>
          {c.as_of && <span>{fill(t.asOf, { time: time(c.as_of, language, true) })}</span>}
        </span>
      }
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconListDetails size={16} />}
            renderRoot={(props) => <Link to="/notifications" search={{ campaign: c.name }} {...props} />}
          >
            {t.notifications}
          </Button>
          <Button
            variant="default"
            component="a"
            href={addressAt("/campaigns/export", queryOf(c.name, address))}
            download={c.name.replace(/[^\p{L}\p{N}._ -]/gu, "_") + ".csv"}
            leftSection={<IconDownload size={16} />}
          >
            {narrowed ? t.downloadShown : t.download}
          </Button>
        </>
      }
    >
      <div className="campaigns-funnels">
        {(c.messages?.accepted ?? 0) > 0 && <Funnel figures={c.messages!} clicks={c.counts_clicks} />}
        {(c.calls?.accepted ?? 0) > 0 && <Funnel figures={c.calls!} completed={c.completed ?? 0} />}
      </div>
      {rest.length > 0 && (
        <dl className="card campaigns-rest" aria-label={t.result}>
          {rest.map((name) => {
            const { of, words } = rate(name, figures);
            return (
              <div key={name} data-rest={name}>
                <dt>{t[name]}</dt>
                <dd>
                  {n(rateOf(name, figures).part)}
                  {of && (
                    <span className="small muted" title={words}>
                      {of}
                      <span className="hidden"> ({words})</span>
                    </span>
                  )}
                </dd>
              </div>
            );
          })}
        </dl>
      )}
      <Suspense>
        <Timeline campaign={c} />
      </Suspense>
      <div className="campaigns-columns">
        <Reached name={c.name} address={address} go={go} />
        <Why campaign={c} address={address} go={go} />
      </div>
    </Page>
  );
}
