import { Button, Switch } from "@mantine/core";
import { IconKey, IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, everything } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import type { Key } from "./types";
import { Ago, agoWidth } from "../../ui/Ago";
import type { Bulk } from "../../ui/list/BulkDialog";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { More } from "../../ui/More";
import { Empty, Page, Tag } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { CreateKey } from "./CreateKey";
import { texts } from "./texts";

export function KeysPage() {
  return (
    <Needs permission="keys:read">
      <Keys />
    </Needs>
  );
}

function Keys() {
  const t = useTexts(texts);
  const company = useCompany();
  const can = useCan();
  const client = useQueryClient();
  const [creating, setCreating] = useState(false);
  const [all, setAll] = useState(false);
  const list = useQuery({ queryKey: [company.id, "keys"], queryFn: ({ signal }) => everything("/keys", {}, signal) });
  const mine = can("keys:write");
  const create = mine && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      {t.create}
    </Button>
  );
  const columns: Column<Key>[] = [
    {
      id: "label",
      label: t.label,
      fixed: true,
      by: (k) => k.label,
      cell: (k) => (
        <>
          <span className="cut" title={k.label}>
            {k.label}
          </span>
          {!k.is_active && <Tag tone="danger">{k.revoked_at ? t.revoked : t.expired}</Tag>}
        </>
      ),
    },
    { id: "key", label: t.key, width: 150, from: "desktop", cell: (k) => <code>{k.prefix}…</code> },
    {
      id: "scopes",
      label: t.scopes,
      width: "26%",
      from: "tablet",
      cell: (k) => {
        const names = k.scopes.map((x) => (t as Record<string, string>)[x] ?? x).join(", ");
        return <span title={names}>{names}</span>;
      },
    },
    {
      id: "used",
      label: t.lastUsed,
      width: agoWidth,
      by: (k) => k.last_used ?? "",
      cell: (k) => <Ago at={k.last_used} />,
    },
    {
      id: "expires",
      label: t.expires,
      width: agoWidth,
      from: "tablet",
      by: (k) => k.expires_at ?? "9",
      cell: (k) => <Ago at={k.expires_at} none={t.expiryNever} />,
    },
  ];
  const bulk: Bulk<Key>[] = [
    {
      id: "revoke",
      label: t.revoke,
      icon: <IconTrash size={15} />,
      danger: true,
      fits: (k) => !k.revoked_at,
      ask: { title: t.revokeManyTitle, text: t.revokeText, action: t.revokeMany },
      run: (k) => del(`/keys/${k.id}`),
      after: () => void client.invalidateQueries({ queryKey: [company.id, "keys"] }),
    },
  ];
  const revoked = list.data?.some((k) => k.revoked_at) ?? false;
  const shown = [...(list.data ?? [])].reverse().filter((k) => all || !k.revoked_at);
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      <div className="stack">
        <Listed
          label={t.title}
          query={list}
          rows={shown}
          columns={columns}
          id={idOf}
          name={(k) => k.label}
          under={(k) => <code>{k.prefix}…</code>}
          bulk={mine ? bulk : undefined}
          tools={mine ? (k) => !k.revoked_at && <Revoke k={k} /> : undefined}
          empty={
            <Empty icon={<IconKey size={22} />} title={t.empty} text={t.emptyText}>
              {create}
            </Empty>
          }
        />
        {revoked && <Switch label={t.showRevoked} checked={all} onChange={(e) => setAll(e.currentTarget.checked)} />}
      </div>
      <CreateKey opened={creating} close={() => setCreating(false)} />
    </Page>
  );
}

const idOf = (k: Key) => k.id;

/** Revoke asks before it revokes a key. */
function Revoke({ k }: { k: Key }) {
  const t = useTexts(texts);
  const company = useCompany();
  const client = useQueryClient();
  const revoke = async () => {
    await del(`/keys/${k.id}`);
    succeeded(t.didRevoke);
    await client.invalidateQueries({ queryKey: [company.id, "keys"] });
  };
  return (
    <More
      of={k.label}
      acts={[
        {
          label: t.revoke,
          icon: <IconTrash size={16} />,
          danger: true,
          ask: { title: fill(t.revokeTitle, { label: k.label }), text: t.revokeText },
          run: revoke,
        },
      ]}
    />
  );
}
