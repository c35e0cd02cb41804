import { English } from "../../ui/English";
import { Button } from "@mantine/core";
import { IconCircleCheck, IconFilterOff, IconSend } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { Ago, agoWidth } from "../../ui/Ago";
import { FilterBar, type Filter } from "../../ui/list/FilterBar";
import { Columns, LiveRows, type Column } from "../../ui/list/List";
import { useMemory } from "../../ui/list/memory";
import { Views } from "../../ui/list/Views";
import { Card, Copy, Empty, Tag } from "../../ui/parts";
import { shared } from "../../ui/texts";
import type { Go } from "./ActivityPage";
import { narrowed, noFilters, type Address } from "./address";
import { texts } from "./texts";
import { codes, type Accepted, type ApiCall } from "./types";
import { useAccepted, useCalls, useKeyNames } from "./useActivity";

/** Calls are the API calls that were refused or failed, or references to those that were accepted. */
export function Calls({ address: a, go, open }: { address: Address; go: Go; open: (id: string) => void }) {
  return a.status === "accepted" ? <AcceptedList address={a} go={go} /> : <List address={a} go={go} open={open} />;
}

/** Bar narrows either list. */
function Bar({ address: a, go, children }: { address: Address; go: Go; children: ReactNode }) {
  const t = useTexts(texts);
  const keys = useKeyNames().map((k) => ({ value: k.id, label: k.label }));
  const accepted = a.status === "accepted";
  const filter = (id: "status" | "code" | "key" | "path" | "request", more: Partial<Filter>): Filter => ({
    id,
    label: t[id],
    value: a[id],
    change: (v) => go({ [id]: v }),
    ...more,
  });
  const filters = [
    filter("status", {
      change: (v) => go({ status: v, ...(v === "accepted" ? { code: undefined, path: undefined } : {}) }),
      options: [
        { value: "4xx", label: t.refused },
        { value: "5xx", label: t.failed },
        { value: "accepted", label: t.accepted },
      ],
    }),
    ...(accepted ? [] : [filter("code", { options: codes.map((c) => ({ value: c, label: c })) }), filter("path", {})]),
    ...(keys.length > 0 || a.key ? [filter("key", { options: keys, shown: t.keyGone })] : []),
    filter("request", { fits: (v) => v.length > 8 }),
  ];
  return (
    <FilterBar
      filters={filters}
      range={{ value: a, change: go }}
      narrowed={narrowed(a) || accepted}
      clear={() => go(noFilters)}
    >
      {children}
    </FilterBar>
  );
}

const idOfCall = (c: ApiCall) => c.id;

function List({ address: a, go, open }: { address: Address; go: Go; open: (id: string) => void }) {
  const t = useTexts(texts);
  const memory = useMemory("api-log", []);
  const columns: Column<ApiCall>[] = [
    {
      id: "status",
      label: t.status,
      width: 84,
      cell: (c) => <Tag tone={c.status >= 500 ? "danger" : "warn"}>{c.status}</Tag>,
    },
    {
      id: "request",
      label: t.theRequest,
      fixed: true,
      cell: (c) => (
        <span className="cut">
          <span className="activity-method">{c.method}</span> {c.path.replace("/functions/v1", "")}
        </span>
      ),
    },
    {
      id: "message",
      label: t.why,
      width: "34%",
      from: "tablet",
      cell: (c) => {
        const text = c.message + (c.repeats > 0 ? ` · ${fill(t.times, { n: c.repeats + 1 })}` : "");
        return (
          <span className="small muted" title={text}>
            <English>{c.message}</English>
            {c.repeats > 0 && ` · ${fill(t.times, { n: c.repeats + 1 })}`}
          </span>
        );
      },
    },
    { id: "code", label: t.code, width: 190, from: "desktop", cell: (c) => <code title={c.code}>{c.code}</code> },
    {
      id: "key",
      label: t.key,
      width: 150,
      from: "desktop",
      cell: (c) => <span title={c.key.label}>{c.key.label || t.keyGone}</span>,
    },
    { id: "when", label: t.when, width: agoWidth, from: "tablet", cell: (c) => <Ago at={c.at} /> },
  ];
  return (
    <>
      <Bar address={a} go={go}>
        <Views memory={memory} search={searchOf(a)} apply={(search) => go({ ...noFilters, ...search })} />
        <Columns columns={columns} memory={memory} />
      </Bar>
      <LiveRows
        label={t.calls}
        list={useCalls(a)}
        columns={columns}
        memory={memory}
        id={idOfCall}
        name={(c) => `${c.method} ${c.path}`}
        current={a.id}
        under={(c) => (
          <>
            {c.code} · <Ago at={c.at} />
          </>
        )}
        target={(c) => ({ open: () => open(c.id) })}
        empty={() => (
          <Card flush label={t.calls}>
            {narrowed(a) ? (
              <Empty icon={<IconFilterOff size={22} />} title={t.noneFound} text={t.noneFoundText}>
                <Button variant="default" onClick={() => go(noFilters)}>
                  {t.clear}
                </Button>
              </Empty>
            ) : (
              <Empty icon={<IconCircleCheck size={22} />} title={t.none} text={t.noneText} />
            )}
          </Card>
        )}
      />
    </>
  );
}

/** searchOf is what a view keeps of an address. */
export function searchOf({ id: _, ...a }: Address): Record<string, string | undefined> {
  return { ...a };
}

const idOfAccepted = (r: Accepted) => r.notification_id;

/** target is where a request leads: to its notification, or to the conversation that an application answered in. */
function target(r: Accepted) {
  const [conversation, turn] = r.notification_id.split(".");
  return turn
    ? ({ to: "/inbox", search: { folder: "all", c: conversation } } as const)
    : ({ to: "/notifications/$id", params: { id: r.notification_id } } as const);
}

/** AcceptedList are references to requests to send that were accepted; each leads to its notification. */
function AcceptedList({ address: a, go }: { address: Address; go: Go }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const memory = useMemory("accepted", []);
  const name = (r: Accepted) => `${r.voice ? t.call : t.message} …${r.notification_id.slice(-8)}`;
  const columns: Column<Accepted>[] = [
    { id: "what", label: t.notification, fixed: true, cell: (r) => <span className="cut">{name(r)}</span> },
    {
      id: "request",
      label: t.request,
      width: 340,
      from: "tablet",
      cell: (r) => (
        <span className="activity-id">
          <code className="cut">{r.request_id}</code>
          <Copy value={r.request_id} label={`${s.copy}: ${r.request_id}`} />
        </span>
      ),
    },
    {
      id: "key",
      label: t.key,
      width: 190,
      from: "tablet",
      cell: (r) => <span title={r.key.label}>{r.key.label || t.keyGone}</span>,
    },
    { id: "when", label: t.when, width: agoWidth, cell: (r) => <Ago at={r.at} /> },
  ];
  const few = a.key || a.request || a.range || a.from || a.to;
  return (
    <>
      <Bar address={a} go={go}>
        <Columns columns={columns} memory={memory} />
      </Bar>
      <p className="small muted activity-about">{t.acceptedAbout}</p>
      <LiveRows
        label={t.accepted}
        list={useAccepted(a)}
        columns={columns}
        memory={memory}
        id={idOfAccepted}
        name={name}
        target={target}
        empty={() => (
          <Card flush label={t.accepted}>
            {few ? (
              <Empty icon={<IconFilterOff size={22} />} title={t.noneFound} text={t.acceptedAbout} />
            ) : (
              <Empty icon={<IconSend size={22} />} title={t.noneAccepted} text={t.noneAcceptedText} />
            )}
          </Card>
        )}
      />
    </>
  );
}
