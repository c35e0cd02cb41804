import { Button, Switch } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Rows, Tag } from "../../ui/parts";
import { DeliveryDrawer } from "./DeliveryDrawer";
import { pageTexts } from "./texts";
import type { Address, Attempt, Webhook } from "./types";
import { useDeliveries } from "./useWebhooks";
import "./webhooks.css";

/** Deliveries is what was sent to an endpoint, the latest first, as it happens. */
export function Deliveries({
  webhook: w,
  address,
  go,
}: {
  webhook: Webhook;
  address: Address;
  go: (to: Partial<Address>) => void;
}) {
  const t = useTexts(pageTexts);
  const failed = address.failed === true;
  const list = useDeliveries(w.id!, failed);
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  return (
    <>
      <Card
        flush
        title={t.deliveries}
        actions={
          <Switch
            label={t.onlyFailed}
            checked={failed}
            onChange={(e) => go({ failed: e.currentTarget.checked ? true : undefined })}
          />
        }
      >
        {list.isPending ? (
          <Rows n={4} />
        ) : list.isLoadingError ? (
          <Failed error={list.error} retry={() => void list.refetch()} />
        ) : rows.length === 0 ? (
          <Empty
            icon={<IconSend size={22} />}
            title={failed ? t.noFailed : t.noDeliveries}
            text={failed ? t.noFailedText : t.noDeliveriesText}
          />
        ) : (
          <div className="table-wrap" style={{ marginTop: 8 }}>
            <table className="table">
              <thead>
                <tr>
                  <th>{t.event}</th>
                  <th>{t.when}</th>
                  <th className="wide-only">{t.attempt}</th>
                  <th className="wide-only">{t.duration}</th>
                  <th>{t.result}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((a) => (
                  <Row key={a.id} attempt={a} open={() => go({ delivery: a.id })} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        {list.hasNextPage && (
          <div className="hook-more">
            <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              {t.more25}
            </Button>
          </div>
        )}
      </Card>
      <DeliveryDrawer
        webhook={w}
        attempt={rows.find((a) => a.id === address.delivery)}
        close={() => go({ delivery: undefined })}
      />
    </>
  );
}

function Row({ attempt: a, open }: { attempt: Attempt; open: () => void }) {
  const t = useTexts(pageTexts);
  const language = useLanguage();
  return (
    <tr>
      <td>
        <button type="button" className="hook-row" onClick={open}>
          {a.type}
        </button>
      </td>
      <td>
        <Ago at={a.at} />
      </td>
      <td className="wide-only">{number(a.attempt, language)}</td>
      <td className="wide-only nowrap">{number(a.duration_ms, language)} ms</td>
      <td>
        <Tag tone={a.succeeded ? "ok" : "danger"}>
          {a.succeeded ? t.ok : t.bad}
          {a.status ? ` · ${a.status}` : ""}
        </Tag>
        {a.attempt > 1 && <span className="phone-only small muted">{fill(t.attemptN, { n: a.attempt })}</span>}
      </td>
    </tr>
  );
}
