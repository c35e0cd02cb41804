import "./flows.css";
import { Button, Tabs } from "@mantine/core";
import { IconPlus, IconRoute } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import { useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago, agoWidth } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Page, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { TabList } from "../../ui/TabList";
import { AddFlow } from "./AddFlow";
import { addressOf } from "./address";
import { Runs } from "./Runs";
import { texts } from "./texts";
import { triggerText } from "./triggerText";
import type { FlowRow } from "./types";
import { useOverview } from "./useFlows";

export function FlowsPage() {
  return (
    <Needs permission="resources:read">
      <Flows />
    </Needs>
  );
}

function Flows() {
  const t = useTexts(texts);
  const can = useCan();
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/flows" });
  const [adding, setAdding] = useState(false);
  const list = useOverview();
  const create = can("resources:write") && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t.create}
    </Button>
  );
  const table = (
    <FlowList list={list}>
      <Empty icon={<IconRoute size={22} />} title={t.empty} text={t.emptyText}>
        {create}
      </Empty>
    </FlowList>
  );
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      {can("conversations:read") ? (
        <Tabs
          keepMounted={false}
          value={address.tab ?? "flows"}
          onChange={(v) =>
            void navigate({ to: "/flows", search: (now) => addressOf({ ...now, tab: v }), replace: true })
          }
        >
          <TabList mb={16} aria-label={t.title}>
            <Tabs.Tab value="flows">{t.flows}</Tabs.Tab>
            <Tabs.Tab value="runs">{t.runs}</Tabs.Tab>
          </TabList>
          <Tabs.Panel value="flows">{table}</Tabs.Panel>
          <Tabs.Panel value="runs">
            {address.tab === "runs" && <Runs flows={list.data ?? []} flow={address.flow} state={address.state} />}
          </Tabs.Panel>
        </Tabs>
      ) : (
        table
      )}
      <AddFlow
        opened={adding}
        close={() => setAdding(false)}
        names={(list.data ?? []).map((f) => f.name)}
        made={(id) => void navigate({ to: "/flows/$id", params: { id } })}
      />
    </Page>
  );
}

function FlowList({ list, children }: { list: ReturnType<typeof useOverview>; children: ReactNode }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const widgets = useList("widgets").data ?? [];
  const rows = useMemo(
    () => [...(list.data ?? [])].sort((a, b) => a.name.localeCompare(b.name, language)),
    [list.data, language],
  );
  const starts = (f: FlowRow) => (f.trigger ? triggerText(f.trigger, t, widgets) : "");
  const columns: Column<FlowRow>[] = [
    { id: "name", label: t.name, fixed: true, by: (f) => f.name, cell: (f) => <span className="cut">{f.name}</span> },
    {
      id: "starts",
      label: t.starts,
      width: "32%",
      from: "tablet",
      by: starts,
      cell: (f) => (starts(f) ? <span title={starts(f)}>{starts(f)}</span> : <span className="muted">–</span>),
    },
    {
      id: "version",
      label: t.version,
      width: 160,
      from: "tablet",
      by: (f) => (f.trigger ? f.version : -1),
      cell: (f) => (
        <span className="tags">
          {f.trigger ? <span>{f.version || "–"}</span> : <Tag>{t.unpublished}</Tag>}
          {f.draft_at && f.trigger && <Tag tone="accent">{t.draft}</Tag>}
        </span>
      ),
    },
    {
      id: "day",
      label: t.day,
      width: 120,
      end: true,
      by: (f) => f.runs_day,
      cell: (f) =>
        f.trigger ? (
          <Link className="flows-count" to="/flows" search={{ tab: "runs", flow: f.id }}>
            {f.runs_day >= 1000 ? "1000+" : f.runs_day}
          </Link>
        ) : (
          <span className="muted">–</span>
        ),
    },
    {
      id: "failure",
      label: t.lastFailure,
      width: agoWidth,
      from: "tablet",
      by: (f) => f.last_failure?.at ?? "",
      cell: (f) =>
        f.last_failure ? (
          <Link
            className="flows-failure"
            to="/flows/runs/$id"
            params={{ id: f.last_failure.run_id }}
            title={f.last_failure.error}
          >
            <Ago at={f.last_failure.at} />
          </Link>
        ) : (
          <span className="muted">{t.never}</span>
        ),
    },
  ];
  return (
    <Listed
      label={t.title}
      query={list}
      rows={rows}
      columns={columns}
      id={(f) => f.id}
      name={(f) => f.name}
      under={starts}
      target={(f) => ({ to: "/flows/$id", params: { id: f.id } })}
      empty={children}
    />
  );
}
