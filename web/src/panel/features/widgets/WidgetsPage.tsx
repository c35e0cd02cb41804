import { Button } from "@mantine/core";
import { IconMessageCircle, IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { languageName } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Page, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { AddWidget } from "./AddWidget";
import { Seen, useLatestSites } from "./Seen";
import { texts } from "./texts";
import type { Widget } from "./types";

export function WidgetsPage() {
  return (
    <Needs permission="resources:read">
      <Widgets />
    </Needs>
  );
}

function Widgets() {
  const t = useTexts(texts);
  const language = useLanguage();
  const can = useCan();
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useList("widgets");
  const agents = useList("agents");
  const sites = useLatestSites();
  const create = can("resources:write") && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t.create}
    </Button>
  );
  const agent = (w: Widget) => agents.data?.find((a) => a.id === w.agent)?.name ?? "";
  const site = (w: Widget) => sites.data?.find((s) => s.widget === w.id);
  const columns: Column<Widget>[] = [
    {
      id: "name",
      label: t.name,
      fixed: true,
      by: (w) => w.name,
      cell: (w) => (
        <>
          <span
            className="swatch"
            style={{ background: w.appearance.primary_color || "var(--accent)" }}
            aria-hidden="true"
          />
          <span className="cut">{w.name}</span>
        </>
      ),
    },
    { id: "kind", label: t.kind, width: 120, by: (w) => t[w.kind], cell: (w) => <Tag>{t[w.kind]}</Tag> },
    {
      id: "agent",
      label: t.agent,
      width: "24%",
      from: "tablet",
      by: agent,
      cell: (w) => (agent(w) ? <span title={agent(w)}>{agent(w)}</span> : <span className="muted">–</span>),
    },
    {
      id: "language",
      label: t.language,
      width: 160,
      from: "tablet",
      by: (w) => languageName(w.language, language),
      cell: (w) => (
        <>
          {languageName(w.language, language)}
          {Object.keys(w.translations).length > 0 && (
            <span className="muted"> +{Object.keys(w.translations).length}</span>
          )}
        </>
      ),
    },
    {
      id: "installed",
      label: t.installedOn,
      width: "26%",
      from: "tablet",
      by: (w) => site(w)?.seen_at ?? "",
      cell: (w) => sites.data && <Seen site={site(w)} />,
    },
  ];
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      <Listed
        label={t.title}
        query={list}
        rows={list.data ?? []}
        columns={columns}
        id={(w) => w.id!}
        name={(w) => w.name}
        target={(w) => ({ to: "/widgets/$id", params: { id: w.id! } })}
        empty={
          <Empty icon={<IconMessageCircle size={22} />} title={t.empty} text={t.emptyText}>
            {create}
          </Empty>
        }
      />
      <AddWidget
        opened={adding}
        close={() => setAdding(false)}
        agents={agents.data ?? []}
        made={(id) => void navigate({ to: "/widgets/$id", params: { id } })}
      />
    </Page>
  );
}
