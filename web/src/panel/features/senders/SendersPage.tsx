import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconMessage2Share, IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Page, Tag } from "../../ui/parts";
import { limitText } from "./limits";
import { Quality, SenderStateTag, stateOf } from "./SenderState";
import { texts } from "./texts";
import type { SenderRow } from "./types";
import { useSenders } from "./useSenders";

export function SendersPage() {
  return (
    <Needs permission="senders:read">
      <Senders />
    </Needs>
  );
}

function Senders() {
  const t = useTexts(texts);
  const language = useLanguage();
  const can = useCan();
  const list = useSenders();
  const create = can("senders:write") && (
    <Button component={Link} to="/senders/new" leftSection={<IconPlus size={16} />}>
      {t.create}
    </Button>
  );
  const kind = (x: SenderRow) => (x.provider === "whatsapp" || x.provider === "sandbox" ? t[x.provider] : x.provider);
  const named = (x: SenderRow) => [x.report.name, x.id === x.number ? "" : x.id].filter(Boolean).join(" · ");
  const columns: Column<SenderRow>[] = [
    {
      id: "number",
      label: t.sender,
      fixed: true,
      by: (x) => phone(x.number),
      cell: (x) => (
        <>
          <span className="cut">{phone(x.number)}</span>
          {x.default && <Tag>{t.standard}</Tag>}
        </>
      ),
    },
    {
      id: "name",
      label: t.name,
      width: "22%",
      from: "tablet",
      by: named,
      cell: (x) => (named(x) ? <span title={named(x)}>{named(x)}</span> : <span className="muted">–</span>),
    },
    { id: "kind", label: t.kind, width: 130, from: "tablet", by: kind, cell: kind },
    {
      id: "quality",
      label: t.quality,
      width: 110,
      from: "tablet",
      by: (x) => x.report.quality,
      cell: (x) => <Quality rating={x.report.quality} />,
    },
    {
      id: "limit",
      label: t.limit,
      width: 180,
      from: "desktop",
      cell: (x) => {
        const text = x.report.messages && limitText(x.report.messages, language, t);
        return text ? <span title={text}>{text}</span> : <span className="muted">–</span>;
      },
    },
    {
      id: "state",
      label: t.state,
      width: 150,
      by: (x) => t[stateOf(x).text],
      cell: (x) => <SenderStateTag sender={x} />,
    },
  ];
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      <Listed
        label={t.title}
        query={list}
        rows={list.data ?? []}
        columns={columns}
        id={(x) => x.id}
        name={(x) => phone(x.number)}
        under={named}
        target={(x) => ({ to: "/senders/$id", params: { id: x.id } })}
        empty={
          <Empty icon={<IconMessage2Share size={22} />} title={t.empty} text={t.emptyText}>
            {create}
          </Empty>
        }
      />
    </Page>
  );
}
