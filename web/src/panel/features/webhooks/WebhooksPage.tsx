import { Button } from "@mantine/core";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Page } from "../../ui/parts";
import { AddWebhook } from "./AddWebhook";
import { StateTag } from "./State";
import { texts } from "./texts";
import { hostOf, type Status as EndpointStatus, type Webhook } from "./types";
import { useStatus, useWebhooks } from "./useWebhooks";
import { Verify } from "./Verify";

export function WebhooksPage() {
  return (
    <Needs permission="webhooks:read">
      <Webhooks />
    </Needs>
  );
}

function Webhooks() {
  const t = useTexts(texts);
  const language = useLanguage();
  const can = useCan()("webhooks:write");
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useWebhooks();
  const create = (text: string) =>
    can && (
      <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
        {text}
      </Button>
    );
  const columns: Column<Webhook>[] = [
    {
      id: "host",
      label: t.endpoint,
      fixed: true,
      by: (w) => w.url.replace(/^\w+:\/\//, ""),
      cell: (w) => (
        <>
          <span className="cut">{hostOf(w.url)}</span>
          <span className="small muted cut wide-only">{w.url.split(hostOf(w.url)).slice(1).join("")}</span>
        </>
      ),
    },
    {
      id: "events",
      label: t.events,
      width: 120,
      from: "tablet",
      by: (w) => (w.events.includes("*") ? Infinity : w.events.length),
      cell: (w) =>
        w.events.includes("*") ? t.every : w.events.length === 1 ? t.one : fill(t.some, { n: w.events.length }),
    },
    {
      id: "success",
      label: t.success,
      width: 150,
      from: "tablet",
      cell: (w) => <Status of={w}>{(s) => <Ago at={s.succeeded_at} none={t.unsent} />}</Status>,
    },
    {
      id: "waiting",
      label: t.waiting,
      width: 100,
      from: "tablet",
      end: true,
      cell: (w) => <Status of={w}>{(s) => number(s.waiting, language)}</Status>,
    },
    {
      id: "state",
      label: t.state,
      width: 150,
      cell: (w) => <Status of={w}>{(s) => <StateTag state={s.state} />}</Status>,
    },
  ];
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create(t.create) : null}>
      <div className="stack">
        <Listed
          label={t.title}
          query={list}
          rows={list.data ?? []}
          columns={columns}
          id={(w) => w.id!}
          name={(w) => w.url}
          under={(w) => w.url}
          target={(w) => ({ to: "/webhooks/$id", params: { id: w.id! } })}
          empty={
            <Empty icon={<IconWebhook size={22} />} title={t.empty} text={t.emptyText}>
              {create(t.first)}
            </Empty>
          }
        />
        {list.data && (list.data.length === 0 || can) && <Verify />}
      </div>
      <AddWebhook
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/webhooks/$id", params: { id } })}
      />
    </Page>
  );
}

/** Status is a part of how an endpoint stands, which is asked for by itself. */
function Status({ of, children }: { of: Webhook; children: (s: EndpointStatus) => ReactNode }) {
  const status = useStatus(of.id!).data;
  return status ? children(status) : "…";
}
