import "../notifications/notifications.css";
import "./campaigns.css";
import { Button } from "@mantine/core";
import { IconSend, IconSpeakerphone } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { get } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { Rate, RateName } from "../../ui/Rate";
import { shared } from "../../ui/texts";
import { time } from "../calls/format";
import { Bar, Outcome } from "../notifications/State";
import { useKeys } from "../notifications/useKeys";
import { texts } from "./texts";
import { countsOf, figuresOf, sendingsOf, type Campaign } from "./types";

export function CampaignsPage() {
  return (
    <Needs permission="notifications:read">
      <Campaigns />
    </Needs>
  );
}

function Campaigns() {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const can = useCan();
  const company = useCompany();
  const box = useRef<HTMLDivElement>(null);
  useKeys(box);
  const list = useInfiniteQuery({
    queryKey: [company.id, "campaigns"],
    initialPageParam: "",
    refetchInterval: 10_000,
    queryFn: ({ pageParam, signal }) => get("/campaigns", { limit: 50, cursor: pageParam }, signal),
    getNextPageParam: (p) => p.next_cursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const asOf = list.data?.pages[0]?.as_of;
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        asOf && rows.length > 0 ? (
          <span className="small muted">{fill(t.asOf, { time: time(asOf, language, true) })}</span>
        ) : undefined
      }
    >
      {list.isPending ? (
        <Rows n={6} />
      ) : list.isError && rows.length === 0 ? (
        <Card flush label={t.title}>
          <Failed error={list.error} retry={() => void list.refetch()} />
        </Card>
      ) : rows.length === 0 ? (
        <Card flush label={t.title}>
          <Empty icon={<IconSpeakerphone size={22} />} title={t.first} text={t.firstText}>
            {can("notifications:send") && (
              <Button renderRoot={(props) => <Link to="/send" {...props} />} leftSection={<IconSend size={16} />}>
                {t.send}
              </Button>
            )}
          </Empty>
        </Card>
      ) : (
        <>
          <Card flush label={t.title}>
            <div ref={box} className="table-wrap">
              <table className="table sent-table campaigns-table">
                <thead>
                  <tr>
                    <th>{t.name}</th>
                    <th className="wide-only">{t.recipients}</th>
                    <th className="wide-only">{t.status}</th>
                    <th>{t.result}</th>
                    <th className="wide-only">
                      <RateName name="delivered" label={t.delivered} />
                    </th>
                    <th className="wide-only">
                      <RateName name="read" label={t.read} />
                    </th>
                    <th className="wide-only">{t.failed}</th>
                    <th className="wide-only">{t.lastUsed}</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((c) => (
                    <Row key={c.name} campaign={c} />
                  ))}
                </tbody>
              </table>
            </div>
          </Card>
          {list.hasNextPage && (
            <div className="sent-older">
              <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                {s.more}
              </Button>
            </div>
          )}
        </>
      )}
    </Page>
  );
}

function Row({ campaign: c }: { campaign: Campaign }) {
  const language = useLanguage();
  const n = (v: number) => number(v, language);
  return (
    <tr data-name={c.name}>
      <td>
        <Link className="row-title sent-link" to="/campaigns/$name" params={{ name: c.name }}>
          <span className="cut">{c.name}</span>
        </Link>
        <span className="sent-second small muted phone-only">
          <Outcome of={sendingsOf(c)} /> {n(c.recipients)} · <Ago at={c.last_at} />
        </span>
      </td>
      <td className="wide-only">{n(c.recipients)}</td>
      <td className="wide-only">
        <Outcome of={sendingsOf(c)} />
      </td>
      <td>
        <Bar counts={countsOf(c)} />
      </td>
      <td className="wide-only">
        <Rate name="delivered" figures={figuresOf(c)} />
      </td>
      <td className="wide-only">
        <Rate name="read" figures={figuresOf(c)} />
      </td>
      <td className="wide-only">{c.failed > 0 ? <span className="campaigns-failed">{n(c.failed)}</span> : "0"}</td>
      <td className="wide-only">
        <Ago at={c.last_at} />
      </td>
    </tr>
  );
}
