import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconPhone, IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { VoiceLine } from "./types";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Page, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { AddLine } from "./AddLine";
import { Calls, LineState, stateOf } from "./State";
import { parse } from "./trunk";
import { texts } from "./texts";
import { useLines } from "./useLines";

export function LinesPage() {
  return (
    <Needs permission="senders:read">
      <Lines />
    </Needs>
  );
}

function Lines() {
  const t = useTexts(texts);
  const can = useCan();
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useLines();
  const agents = useList("agents");
  const create = can("senders:write") && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t.create}
    </Button>
  );
  const kind = (l: VoiceLine) => (l.provider === "sip" || l.provider === "sandbox" ? t[l.provider] : l.provider);
  const agent = (l: VoiceLine) =>
    l.line.agent && (agents.data?.find((a) => a.id === l.line.agent)?.name ?? l.line.agent);
  const columns: Column<VoiceLine>[] = [
    {
      id: "number",
      label: t.line,
      fixed: true,
      by: (l) => phone(l.number),
      cell: (l) => (
        <>
          <span className="cut">{phone(l.number)}</span>
          {l.default && <Tag>{t.standard}</Tag>}
        </>
      ),
    },
    {
      id: "id",
      label: t.id,
      width: "15%",
      from: "desktop",
      by: (l) => l.id,
      cell: (l) => (
        <span className="muted" title={l.id}>
          {l.id}
        </span>
      ),
    },
    {
      id: "kind",
      label: t.kind,
      width: "22%",
      from: "tablet",
      by: kind,
      cell: (l) => {
        const text = [kind(l), l.line.trunk && parse(l.line.trunk).host].filter(Boolean).join(" · ");
        return <span title={text}>{text}</span>;
      },
    },
    {
      id: "agent",
      label: t.agent,
      width: "16%",
      from: "tablet",
      by: (l) => agent(l) || "",
      cell: (l) =>
        l.provider === "sip" && agent(l) ? (
          <span title={agent(l)}>{agent(l)}</span>
        ) : (
          <span className="muted">{l.provider === "sip" ? t.nobody : "–"}</span>
        ),
    },
    {
      id: "calls",
      label: t.calls,
      width: 140,
      from: "tablet",
      by: (l) => l.line.under_way ?? -1,
      cell: (l) => <Calls line={l} />,
    },
    { id: "state", label: t.state, width: 150, by: (l) => t[stateOf(l).text], cell: (l) => <LineState line={l} /> },
  ];
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      <Listed
        label={t.title}
        query={list}
        rows={list.data ?? []}
        columns={columns}
        id={(l) => l.id}
        name={(l) => phone(l.number)}
        under={(l) => l.id}
        target={(l) => ({ to: "/lines/$id", params: { id: l.id } })}
        empty={
          <Empty icon={<IconPhone size={22} />} title={t.empty} text={t.emptyText}>
            {create}
          </Empty>
        }
      />
      <AddLine
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/lines/$id", params: { id } })}
      />
    </Page>
  );
}
