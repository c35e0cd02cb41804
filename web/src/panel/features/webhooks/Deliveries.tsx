import { Switch } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { get } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Ago, agoWidth } from "../../ui/Ago";
import { LiveRows, type Column } from "../../ui/list/List";
import { pageSize, useLiveList } from "../../ui/list/useLiveList";
import { Card, Empty, Tag } from "../../ui/parts";
import { DeliveryDrawer } from "./DeliveryDrawer";
import { pageTexts } from "./texts";
import type { Address, Attempt, Webhook } from "./types";
import "./webhooks.css";

const beat = 4_000;
const idOf = (a: Attempt) => a.id;

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
  const language = useLanguage();
  const failed = address.failed === true;
  const list = useLiveList<Attempt>({
    key: ["deliveries", w.id, failed],
    id: idOf,
    every: beat,
    page: (cursor, signal) =>
      get(
        `/webhooks/${encodeURIComponent(w.id!)}/deliveries`,
        { limit: pageSize, cursor, succeeded: failed ? "false" : undefined },
        signal,
      ),
  });
  const columns: Column<Attempt>[] = [
    { id: "event", label: t.event, fixed: true, cell: (a) => <span className="cut">{a.type}</span> },
    { id: "when", label: t.when, width: agoWidth, from: "tablet", cell: (a) => <Ago at={a.at} /> },
    { id: "attempt", label: t.attempt, width: 84, from: "tablet", cell: (a) => number(a.attempt, language) },
    {
      id: "duration",
      label: t.duration,
      width: 96,
      from: "wide",
      cell: (a) => `${number(a.duration_ms, language)} ms`,
    },
    {
      id: "result",
      label: t.result,
      width: 160,
      cell: (a) => (
        <Tag tone={a.succeeded ? "ok" : "danger"}>
          {a.succeeded ? t.ok : t.bad}
          {a.status ? ` · ${a.status}` : ""}
        </Tag>
      ),
    },
  ];
  return (
    <div>
      <div className="hook-list-head">
        <h2>{t.deliveries}</h2>
        <Switch
          label={t.onlyFailed}
          checked={failed}
          onChange={(e) => go({ failed: e.currentTarget.checked ? true : undefined })}
        />
      </div>
      <LiveRows
        label={t.deliveries}
        list={list}
        columns={columns}
        id={idOf}
        name={(a) => a.type}
        current={address.delivery}
        under={(a) => (
          <>
            <Ago at={a.at} />
            {a.attempt > 1 && <> · {fill(t.attemptN, { n: a.attempt })}</>}
          </>
        )}
        target={(a) => ({ open: () => go({ delivery: a.id }) })}
        empty={() => (
          <Card flush label={t.deliveries}>
            <Empty
              icon={<IconSend size={22} />}
              title={failed ? t.noFailed : t.noDeliveries}
              text={failed ? t.noFailedText : t.noDeliveriesText}
            />
          </Card>
        )}
      />
      <DeliveryDrawer
        webhook={w}
        attempt={list.shown.rows.find((a) => a.id === address.delivery)}
        close={() => go({ delivery: undefined })}
      />
    </div>
  );
}
