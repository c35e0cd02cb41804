import { Button } from "@mantine/core";
import { IconPlus, IconTool } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Page, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { AddTool } from "./AddTool";
import { texts } from "./texts";
import type { Tool } from "./types";

export function ToolsPage() {
  return (
    <Needs permission="resources:read">
      <Tools />
    </Needs>
  );
}

/** changes reports whether people confirm the calls of a tool. */
export function changes(tool: Tool): boolean {
  if (tool.mcp) return tool.mcp.tools.some((x) => x.changes !== false);
  return tool.changes ?? tool.http?.method !== "GET";
}

function Tools() {
  const t = useTexts(texts);
  const can = useCan();
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useList("tools");
  const create = can("resources:write") && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t.create}
    </Button>
  );
  const at = (x: Tool) => (x.http ?? x.mcp)?.url ?? "";
  const kind = (x: Tool) => (x.mcp ? t.mcp : t.http);
  const columns: Column<Tool>[] = [
    { id: "name", label: t.name, fixed: true, by: (x) => x.name, cell: (x) => <span className="cut">{x.name}</span> },
    { id: "kind", label: t.kind, width: 150, from: "tablet", by: kind, cell: (x) => <Tag>{kind(x)}</Tag> },
    {
      id: "address",
      label: t.address,
      width: "40%",
      from: "tablet",
      by: at,
      cell: (x) => <code title={at(x)}>{at(x)}</code>,
    },
    {
      id: "use",
      label: t.use,
      width: 150,
      by: (x) => (changes(x) ? t.changesShort : t.reads),
      cell: (x) => (changes(x) ? <Tag tone="warn">{t.changesShort}</Tag> : <Tag>{t.reads}</Tag>),
    },
  ];
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      <Listed
        label={t.title}
        query={list}
        rows={list.data ?? []}
        columns={columns}
        id={(x) => x.id!}
        name={(x) => x.name}
        target={(x) => ({ to: "/tools/$id", params: { id: x.id! } })}
        empty={
          <Empty icon={<IconTool size={22} />} title={t.empty} text={t.emptyText}>
            {create}
          </Empty>
        }
      />
      <AddTool
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/tools/$id", params: { id } })}
      />
    </Page>
  );
}
