import "./flows.css";
import { Button, Tabs } from "@mantine/core";
import { IconPlus, IconRoute } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
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
  const table = list.isPending ? (
    <Rows n={3} />
  ) : list.isLoadingError ? (
    <Failed error={list.error} retry={() => void list.refetch()} />
  ) : (
    <Card flush label={t.title}>
      {list.data.length === 0 ? (
        <Empty icon={<IconRoute size={22} />} title={t.empty} text={t.emptyText}>
          {create}
        </Empty>
      ) : (
        <List rows={list.data} />
      )}
    </Card>
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
          <Tabs.List mb={16} aria-label={t.title}>
            <Tabs.Tab value="flows">{t.flows}</Tabs.Tab>
            <Tabs.Tab value="runs">{t.runs}</Tabs.Tab>
          </Tabs.List>
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

function List({ rows }: { rows: FlowRow[] }) {
  const t = useTexts(texts);
  const widgets = useList("widgets").data ?? [];
  return (
    <div className="table-wrap">
      <table className="table">
        <thead>
          <tr>
            <th>{t.name}</th>
            <th className="wide-only">{t.starts}</th>
            <th>{t.version}</th>
            <th>{t.day}</th>
            <th className="wide-only">{t.lastFailure}</th>
          </tr>
        </thead>
        <tbody>
          {[...rows]
            .sort((a, b) => a.name.localeCompare(b.name))
            .map((f) => (
              <tr key={f.id}>
                <td>
                  <Link className="row-title" to="/flows/$id" params={{ id: f.id }}>
                    {f.name}
                  </Link>
                </td>
                <td className="wide-only flows-starts">
                  {f.trigger ? triggerText(f.trigger, t, widgets) : <span className="muted">–</span>}
                </td>
                <td>
                  <div className="tags">
                    {f.trigger ? <span>{f.version || "–"}</span> : <Tag>{t.unpublished}</Tag>}
                    {f.draft_at && f.trigger && <Tag tone="accent">{t.draft}</Tag>}
                  </div>
                </td>
                <td>
                  {f.trigger ? (
                    <Link className="flows-count" to="/flows" search={{ tab: "runs", flow: f.id }}>
                      {f.runs_day >= 1000 ? "1000+" : f.runs_day}
                    </Link>
                  ) : (
                    <span className="muted">–</span>
                  )}
                </td>
                <td className="wide-only">
                  {f.last_failure ? (
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
                  )}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
