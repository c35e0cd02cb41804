import "./notifications.css";
import { Button } from "@mantine/core";
import { IconSend, IconSendOff } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, type ReactNode } from "react";
import { get } from "../../api";
import { useTexts } from "../../i18n";
import { notifications as stream, type LiveEvent } from "../../live";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { FilterBar } from "../../ui/list/FilterBar";
import { Columns, LiveRows } from "../../ui/list/List";
import { useMemory } from "../../ui/list/memory";
import { Streaming } from "../../ui/list/Streaming";
import { pageSize, useLiveList } from "../../ui/list/useLiveList";
import { Views } from "../../ui/list/Views";
import { Card, Empty, Page } from "../../ui/parts";
import { addressOf, narrowed, nothing, queryOf, type Address } from "./address";
import { useBulk } from "./bulk";
import { useColumns } from "./columns";
import { Find } from "./Find";
import { useFilters } from "./filters";
import { texts } from "./texts";
import { open, type Sent } from "./types";

const beat = 4000; // while something is under way: that a message is queued or being sent is no event

export function NotificationsPage() {
  return (
    <Needs permission="notifications:read">
      <Notifications />
    </Needs>
  );
}

const idOf = (n: Sent) => n.notification_id;
const about = (e: LiveEvent) => (e.data as { data?: { notification_id?: string } } | null)?.data?.notification_id;

/** useSent is the list of notifications, as it changes. */
function useSent(address: Address) {
  return useLiveList<Sent>({
    key: ["notifications", queryOf(address)],
    id: idOf,
    page: (cursor, signal) => get("/notifications", { ...queryOf(address), limit: pageSize, cursor }, signal),
    live: {
      stream,
      of: about,
      adds: (e) => e.event === "notification.accepted" || address.state !== undefined,
      some: async (ids) => (await get("/notifications", { ids: ids.join(",") })).data,
      open,
      beat,
    },
  });
}

function Notifications() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/notifications" });
  const go = useCallback(
    (to: Partial<Record<keyof Address, string | undefined>>) =>
      void navigate({ to: "/notifications", replace: true, search: (now) => addressOf({ ...now, ...to }) }),
    [navigate],
  );
  const clear = () => go(nothing);
  const list = useSent(address);
  const { columns, name, under } = useColumns();
  const memory = useMemory("messages", []);
  const bulk = useBulk(list.again);
  return (
    <Page title={t.title} actions={<Streaming stream={stream} />}>
      <FilterBar
        search={<Find />}
        filters={useFilters(address, go)}
        range={{ value: address, change: go }}
        narrowed={narrowed(address)}
        clear={clear}
      >
        <Views memory={memory} search={{ ...address }} apply={(search) => go({ ...nothing, ...search })} />
        <Columns columns={columns} memory={memory} />
      </FilterBar>
      <LiveRows
        label={t.title}
        list={list}
        columns={columns}
        memory={memory}
        id={idOf}
        name={name}
        under={under}
        target={(n) => ({ to: "/notifications/$id", params: { id: n.notification_id } })}
        bulk={bulk}
        find={t.keyFind}
        news={{ one: t.newOne, many: t.newMany }}
        empty={(on) => (narrowed(address) ? <None on={on} clear={clear} /> : <First />)}
      />
    </Page>
  );
}

/** None says that nothing matches the filters, as far as the list has been searched. */
function None({ on, clear }: { on: ReactNode; clear: () => void }) {
  const t = useTexts(texts);
  return (
    <Card flush label={t.title}>
      <Empty
        icon={<IconSendOff size={22} />}
        title={on ? t.noneYet : t.noneFound}
        text={on ? t.noneYetText : t.noneFoundText}
      >
        {on ?? (
          <Button variant="default" onClick={clear}>
            {t.clear}
          </Button>
        )}
      </Empty>
    </Card>
  );
}

/** First says what appears here, where nothing has been sent yet. */
function First() {
  const t = useTexts(texts);
  const can = useCan();
  return (
    <Card flush label={t.title}>
      <Empty icon={<IconSend size={22} />} title={t.first} text={t.firstText}>
        {can("notifications:send") && (
          <Button renderRoot={(props) => <Link to="/send" {...props} />} leftSection={<IconSend size={16} />}>
            {t.send}
          </Button>
        )}
      </Empty>
    </Card>
  );
}
