import { Button } from "@mantine/core";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { AddWebhook } from "./AddWebhook";
import { StateTag } from "./State";
import { texts } from "./texts";
import { hostOf, type Webhook } from "./types";
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
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create(t.create) : null}>
      {list.isPending ? (
        <Rows n={3} />
      ) : list.isLoadingError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <div className="stack">
          <Card flush label={t.title}>
            {list.data.length === 0 ? (
              <Empty icon={<IconWebhook size={22} />} title={t.empty} text={t.emptyText}>
                {create(t.first)}
              </Empty>
            ) : (
              <div className="table-wrap">
                <table className="table">
                  <thead>
                    <tr>
                      <th>{t.endpoint}</th>
                      <th className="wide-only">{t.events}</th>
                      <th className="wide-only">{t.success}</th>
                      <th className="wide-only">{t.waiting}</th>
                      <th>{t.state}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {list.data.map((w) => (
                      <Row key={w.id} webhook={w} />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </Card>
          {(list.data.length === 0 || can) && <Verify />}
        </div>
      )}
      <AddWebhook
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/webhooks/$id", params: { id } })}
      />
    </Page>
  );
}

function Row({ webhook: w }: { webhook: Webhook }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const status = useStatus(w.id!).data;
  return (
    <tr>
      <td style={{ maxWidth: 0, width: "45%" }}>
        <Link className="row-title" to="/webhooks/$id" params={{ id: w.id! }}>
          {hostOf(w.url)}
        </Link>
        <div className="small muted cut" title={w.url}>
          {w.url}
        </div>
      </td>
      <td className="wide-only nowrap">
        {w.events.includes("*") ? t.every : w.events.length === 1 ? t.one : fill(t.some, { n: w.events.length })}
      </td>
      <td className="wide-only">
        <Ago at={status?.succeeded_at} none={status ? t.unsent : "…"} />
      </td>
      <td className="wide-only">{status ? number(status.waiting, language) : "…"}</td>
      <td>{status ? <StateTag state={status.state} /> : "…"}</td>
    </tr>
  );
}
