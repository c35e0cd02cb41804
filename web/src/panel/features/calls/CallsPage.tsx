import "./calls.css";
import { Button, Skeleton, Tabs } from "@mantine/core";
import { IconDownload, IconPhoneIncoming, IconPhoneOff } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { get } from "../../api";
import { useTexts, withTexts } from "../../i18n";
import { calls as stream, type LiveEvent } from "../../live";
import { Needs } from "../../shell/states";
import { csvOf, download } from "../../ui/list/csv";
import { FilterBar } from "../../ui/list/FilterBar";
import { Columns, LiveRows } from "../../ui/list/List";
import { useMemory } from "../../ui/list/memory";
import { Streaming } from "../../ui/list/Streaming";
import { pageSize, useLiveList } from "../../ui/list/useLiveList";
import { Views } from "../../ui/list/Views";
import { Card, Empty, Page } from "../../ui/parts";
import { TabList } from "../../ui/TabList";
import { listTexts } from "../../ui/texts";
import { addressOf, narrowed, nothing, queryOf, type Address } from "./address";
import { useColumns } from "./columns";
import { useFilters } from "./filters";
import { FirstCall } from "./FirstCall";
import { useNames } from "./names";
import { stateText, texts } from "./texts";
import { underWay, type CallRow } from "./types";

const Charts = lazy(withTexts(() => import("../charts/Calls")));

const beat = 2000; // while a call is under way: that it rings or is answered is no event
const single = 10; // calls beyond the first page that are read one by one

export function CallsPage() {
  return (
    <Needs permission="notifications:read">
      <Calls />
    </Needs>
  );
}

type Go = (to: Partial<Record<keyof Address, string | undefined>>) => void;

function Calls() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/calls" });
  const go: Go = useCallback(
    (to) => void navigate({ to: "/calls", replace: true, search: (now) => addressOf({ ...now, ...to }) }),
    [navigate],
  );
  return (
    <Page title={t.title} actions={<Streaming stream={stream} />}>
      <Tabs
        value={address.direction ?? "outgoing"}
        onChange={(v) =>
          go({ direction: v === "incoming" ? "incoming" : undefined, state: undefined, campaign: undefined })
        }
      >
        <TabList mb={16} aria-label={t.directions}>
          <Tabs.Tab value="outgoing">{t.outgoing}</Tabs.Tab>
          <Tabs.Tab value="incoming">{t.incoming}</Tabs.Tab>
        </TabList>
        <Tabs.Panel value={address.direction ?? "outgoing"}>
          <List key={address.direction} address={address} go={go} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

/** Nobody says how people reach an agent by telephone, where nobody has yet. */
function Nobody() {
  const t = useTexts(texts);
  return (
    <Card flush label={t.title}>
      <Empty icon={<IconPhoneIncoming size={22} />} title={t.nobody} text={t.nobodyText}>
        <Button variant="default" component={Link} to="/lines">
          {t.toLines}
        </Button>
      </Empty>
    </Card>
  );
}

const idOf = (c: CallRow) => c.call_id;
interface About {
  call_id?: string;
  notification_id?: string;
}
const about = (e: LiveEvent) => {
  const event = e.data as (About & { data?: About }) | null;
  const what = event?.data ?? event;
  return what?.call_id ?? what?.notification_id;
};

/** useCalls is the list of calls, as it changes. */
function useCalls(address: Address) {
  const page = (cursor?: string, signal?: AbortSignal) =>
    get("/calls", { ...queryOf(address), limit: pageSize, cursor }, signal);
  return useLiveList<CallRow>({
    key: ["calls", queryOf(address)],
    id: idOf,
    page,
    live: {
      stream,
      of: about,
      adds: () => true,
      some: async (ids) => {
        const { data } = await page();
        const rest = ids.filter((id) => !data.some((c) => c.call_id === id)).slice(0, single);
        return [...data, ...(await Promise.all(rest.map((id) => get(`/calls/${id}`))))];
      },
      open: (c) => underWay(c.state),
      beat,
    },
  });
}

function List({ address, go }: { address: Address; go: Go }) {
  const t = useTexts(texts);
  const l = useTexts(listTexts);
  const names = useNames();
  const list = useCalls(address);
  const incoming = address.direction === "incoming";
  const { columns, name, under } = useColumns(incoming);
  const memory = useMemory(incoming ? "incoming" : "calls", ["number", "line"]);
  const clear = () => go(nothing);
  const save = (rows: CallRow[]) =>
    download(
      "calls.csv",
      csvOf(rows, {
        id: (c) => c.call_id,
        created: (c) => c.created_at,
        status: (c) => stateText(t, c.state),
        name: (c) => c.name,
        number: (c) => c.number,
        agent: (c) => names.agent(c.agent_id)?.name ?? c.agent_id,
        line: (c) => c.line_id,
        campaign: (c) => c.campaign_name,
        answered: (c) => c.answered_at,
        ended: (c) => c.ended_at,
        seconds: (c) => c.duration_s,
        attempts: (c) => c.attempts,
        result: (c) => c.result && JSON.stringify(c.result),
      }),
    );
  const { direction, agent, line, campaign, number, range } = address;
  return (
    <>
      {!number && (list.shown.rows.length > 0 || narrowed(address)) && (
        <Suspense fallback={<Skeleton mb={16} height={390} radius="md" />}>
          <Charts
            query={{ direction, agent, line, campaign: incoming ? undefined : campaign }}
            range={range}
            choose={(to) => go({ range: to })}
          />
        </Suspense>
      )}
      <FilterBar filters={useFilters(address, go)} narrowed={narrowed(address)} clear={clear}>
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
        live={(c) => underWay(c.state)}
        target={(c) => ({ to: "/calls/$id", params: { id: c.call_id } })}
        bulk={[{ id: "export", label: l.exportCsv, icon: <IconDownload size={15} />, now: save }]}
        news={{ one: t.newOne, many: t.newMany }}
        empty={(on) =>
          !narrowed(address) ? (
            incoming ? (
              <Nobody />
            ) : (
              <FirstCall />
            )
          ) : (
            <Card flush label={t.title}>
              <Empty
                icon={<IconPhoneOff size={22} />}
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
          )
        }
      />
    </>
  );
}
