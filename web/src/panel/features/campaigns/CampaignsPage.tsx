import "../notifications/notifications.css";
import "./campaigns.css";
import { Button } from "@mantine/core";
import { IconSend, IconSpeakerphone } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Page } from "../../ui/parts";
import { Rate, RateName } from "../../ui/Rate";
import { time } from "../calls/format";
import { Bar, Outcome } from "../notifications/State";
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
  const language = useLanguage();
  const can = useCan();
  const company = useCompany();
  const list = useInfiniteQuery({
    queryKey: [company.id, "campaigns"],
    initialPageParam: "",
    refetchInterval: 10_000,
    queryFn: ({ pageParam, signal }) => get("/campaigns", { limit: 50, cursor: pageParam }, signal),
    getNextPageParam: (p) => p.next_cursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const asOf = list.data?.pages[0]?.as_of;
  const n = (v: number) => number(v, language);
  const columns: Column<Campaign>[] = [
    { id: "name", label: t.name, fixed: true, cell: (c) => <span className="cut">{c.name}</span> },
    { id: "recipients", label: t.recipients, width: 116, from: "tablet", end: true, cell: (c) => n(c.recipients) },
    { id: "status", label: t.status, width: 164, from: "tablet", cell: (c) => <Outcome of={sendingsOf(c)} /> },
    { id: "result", label: t.result, width: "20%", cell: (c) => <Bar counts={countsOf(c)} /> },
    {
      id: "delivered",
      label: t.delivered,
      head: <RateName name="delivered" label={t.delivered} />,
      width: 100,
      from: "wide",
      end: true,
      cell: (c) => <Rate name="delivered" figures={figuresOf(c)} />,
    },
    {
      id: "read",
      label: t.read,
      head: <RateName name="read" label={t.read} />,
      width: 90,
      from: "wide",
      end: true,
      cell: (c) => <Rate name="read" figures={figuresOf(c)} />,
    },
    {
      id: "failed",
      label: t.failed,
      width: 92,
      from: "tablet",
      end: true,
      cell: (c) => (c.failed > 0 ? <span className="campaigns-failed">{n(c.failed)}</span> : "0"),
    },
    { id: "used", label: t.lastUsed, width: 128, from: "tablet", cell: (c) => <Ago at={c.last_at} /> },
  ];
  return (
    <Page
      title={t.title}
      actions={
        asOf && rows.length > 0 ? (
          <span className="small muted">{fill(t.asOf, { time: time(asOf, language, true) })}</span>
        ) : undefined
      }
    >
      <Listed
        label={t.title}
        query={list}
        rows={rows}
        columns={columns}
        id={(c) => c.name}
        name={(c) => c.name}
        under={(c) => (
          <>
            <Outcome of={sendingsOf(c)} /> {n(c.recipients)} · <Ago at={c.last_at} />
          </>
        )}
        target={(c) => ({ to: "/campaigns/$name", params: { name: c.name } })}
        empty={
          <Empty icon={<IconSpeakerphone size={22} />} title={t.first} text={t.firstText}>
            {can("notifications:send") && (
              <Button renderRoot={(props) => <Link to="/send" {...props} />} leftSection={<IconSend size={16} />}>
                {t.send}
              </Button>
            )}
          </Empty>
        }
      />
    </Page>
  );
}
