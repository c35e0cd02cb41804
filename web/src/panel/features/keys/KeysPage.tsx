import { Button, Switch } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, everything } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import type { Key } from "./types";
import { Ago } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import { Card, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
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
  const [creating, setCreating] = useState(false);
  const [all, setAll] = useState(false);
  const list = useQuery({ queryKey: [company.id, "keys"], queryFn: ({ signal }) => everything("/keys", {}, signal) });
  const mine = can("keys:write");
  const create = mine && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      {t.create}
    </Button>
  );
  const revoked = list.data?.some((k) => k.revoked_at) ?? false;
  const shown = [...(list.data ?? [])].reverse().filter((k) => all || !k.revoked_at);
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      {list.isPending ? (
        <Rows />
      ) : list.isLoadingError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <div className="stack">
          <Card flush label={t.title}>
            {shown.length === 0 ? (
              <Empty icon={<IconKey size={22} />} title={t.empty} text={t.emptyText}>
                {create}
              </Empty>
            ) : (
              <div className="table-wrap">
                <table className="table">
                  <thead>
                    <tr>
                      <th>{t.label}</th>
                      <th className="wide-only">{t.key}</th>
                      <th className="wide-only">{t.scopes}</th>
                      <th>{t.lastUsed}</th>
                      <th className="wide-only">{t.expires}</th>
                      <th>
                        <span className="hidden">{t.revoke}</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {shown.map((k) => (
                      <KeyRow key={k.id} k={k} mine={mine} />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </Card>
          {revoked && <Switch label={t.showRevoked} checked={all} onChange={(e) => setAll(e.currentTarget.checked)} />}
        </div>
      )}
      <CreateKey opened={creating} close={() => setCreating(false)} />
    </Page>
  );
}

function KeyRow({ k, mine }: { k: Key; mine: boolean }) {
  const t = useTexts(texts);
  const company = useCompany();
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => del(`/keys/${k.id}`),
    onError: failed,
    onSuccess: () => {
      succeeded(t.didRevoke);
      return client.invalidateQueries({ queryKey: [company.id, "keys"] });
    },
  });
  const ask = async () => {
    if (
      await confirm({
        title: fill(t.revokeTitle, { label: k.label }),
        text: t.revokeText,
        action: t.revoke,
        danger: true,
      })
    )
      revoke.mutate();
  };
  return (
    <tr>
      <td>
        <span className="row-title">{k.label}</span>
        {!k.is_active && (
          <>
            {" "}
            <Tag tone="danger">{k.revoked_at ? t.revoked : t.expired}</Tag>
          </>
        )}
        <code className="phone-only muted">{k.prefix}…</code>
      </td>
      <td className="wide-only">
        <code>{k.prefix}…</code>
      </td>
      <td className="wide-only">
        <div className="tags">
          {k.scopes.map((s) => (
            <Tag key={s}>{(t as Record<string, string>)[s] ?? s}</Tag>
          ))}
        </div>
      </td>
      <td>
        <Ago at={k.last_used} />
      </td>
      <td className="wide-only">
        <Ago at={k.expires_at} none={t.expiryNever} />
      </td>
      <td>
        {mine && !k.revoked_at && (
          <Button variant="subtle" color="red" size="compact-sm" loading={revoke.isPending} onClick={() => void ask()}>
            {t.revoke}
            <span className="hidden"> {k.label}</span>
          </Button>
        )}
      </td>
    </tr>
  );
}
