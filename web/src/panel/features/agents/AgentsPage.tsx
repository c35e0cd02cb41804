import { Button } from "@mantine/core";
import { IconPlus, IconRobot } from "@tabler/icons-react";
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
import { AddAgent } from "./AddAgent";
import { texts } from "./texts";

export function AgentsPage() {
  return (
    <Needs permission="resources:read">
      <Agents />
    </Needs>
  );
}

function Agents() {
  const t = useTexts(texts);
  const language = useLanguage();
  const can = useCan();
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useList("agents");
  const create = can("resources:write") && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t.create}
    </Button>
  );
  const columns: Column<NonNullable<typeof list.data>[number]>[] = [
    { id: "name", label: t.name, fixed: true, by: (a) => a.name, cell: (a) => <span className="cut">{a.name}</span> },
    {
      id: "engine",
      label: t.engine,
      width: "24%",
      cell: (a) => <Tag tone={a.warning ? "warn" : undefined}>{t[a.engine]}</Tag>,
    },
    {
      id: "knowledge",
      label: t.knowledge,
      width: "30%",
      from: "tablet",
      cell: (a) => {
        const bases = a.knowledge.join(", ");
        return bases ? <span title={bases}>{bases}</span> : <span className="muted">–</span>;
      },
    },
    {
      id: "language",
      label: t.language,
      width: 130,
      by: (a) => languageName(a.language, language),
      cell: (a) => languageName(a.language, language),
    },
  ];
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      <Listed
        label={t.title}
        query={list}
        rows={list.data ?? []}
        columns={columns}
        id={(a) => a.id!}
        name={(a) => a.name}
        target={(a) => ({ to: "/agents/$id", params: { id: a.id! } })}
        empty={
          <Empty icon={<IconRobot size={22} />} title={t.empty} text={t.emptyText}>
            {create}
          </Empty>
        }
      />
      <AddAgent
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/agents/$id", params: { id } })}
      />
    </Page>
  );
}
