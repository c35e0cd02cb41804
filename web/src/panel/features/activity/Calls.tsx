import { Button, Select } from "@mantine/core";
import { IconCircleCheck, IconFilterOff } from "@tabler/icons-react";
import { fill, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Rows, Tag } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Written } from "../../ui/Written";
import { AcceptedList } from "./Accepted";
import type { Go } from "./ActivityPage";
import { narrowed, noFilters, type Address } from "./address";
import { Days } from "./Days";
import { texts } from "./texts";
import { codes, type ApiCall } from "./types";
import { useCalls, useKeyNames } from "./useActivity";

/** Calls are the calls of the interface that were refused or failed, or references to those that were accepted. */
export function Calls({ address: a, go, open }: { address: Address; go: Go; open: (id: string) => void }) {
  const t = useTexts(texts);
  const keys = useKeyNames().map((k) => ({ value: k.id, label: k.label }));
  if (a.key && !keys.some((k) => k.value === a.key)) keys.push({ value: a.key, label: t.keyGone });
  const accepted = a.status === "accepted";
  return (
    <>
      <div className="activity-filters" role="group" aria-label={t.filters}>
        <Select
          aria-label={t.status}
          value={a.status ?? "all"}
          onChange={(v) =>
            go({
              status: v === "all" || !v ? undefined : v,
              ...(v === "accepted" ? { code: undefined, path: undefined } : {}),
            })
          }
          allowDeselect={false}
          checkIconPosition="right"
          data={[
            { value: "all", label: t.anyStatus },
            { value: "4xx", label: t.refused },
            { value: "5xx", label: t.failed },
            { value: "accepted", label: t.accepted },
          ]}
        />
        {!accepted && (
          <Select
            aria-label={t.code}
            placeholder={t.anyCode}
            value={a.code ?? null}
            onChange={(v) => go({ code: v ?? undefined })}
            clearable
            searchable
            checkIconPosition="right"
            data={[...codes]}
          />
        )}
        {keys.length > 0 && (
          <Select
            aria-label={t.key}
            placeholder={t.any}
            value={a.key ?? null}
            onChange={(v) => go({ key: v ?? undefined })}
            clearable
            searchable={keys.length > 8}
            checkIconPosition="right"
            data={keys}
          />
        )}
        {!accepted && (
          <Written label={t.path} value={a.path ?? ""} change={(v) => go({ path: v || undefined })} fits={() => true} />
        )}
        <Written
          label={t.request}
          value={a.request ?? ""}
          change={(v) => go({ request: v || undefined })}
          fits={(v) => v === "" || v.length > 8}
        />
        <Days address={a} go={go} />
      </div>
      {accepted ? <AcceptedList address={a} /> : <List address={a} open={open} clear={() => go(noFilters)} />}
    </>
  );
}

function List({ address, open, clear }: { address: Address; open: (id: string) => void; clear: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const list = useCalls(address);
  if (list.isPending) return <Rows n={8} />;
  if (list.isError && !list.data)
    return (
      <Card flush label={t.calls}>
        <Failed error={list.error} retry={() => void list.refetch()} />
      </Card>
    );
  const rows = list.data!.pages.flatMap((p) => p.data);
  if (rows.length === 0) {
    return (
      <Card flush label={t.calls}>
        {narrowed(address) ? (
          <Empty icon={<IconFilterOff size={22} />} title={t.noneFound} text={t.noneFoundText}>
            <Button variant="default" onClick={clear}>
              {t.clear}
            </Button>
          </Empty>
        ) : (
          <Empty icon={<IconCircleCheck size={22} />} title={t.none} text={t.noneText} />
        )}
      </Card>
    );
  }
  return (
    <>
      <Card flush label={t.calls}>
        <div className="table-wrap">
          <table className="table activity-table activity-calls">
            <thead>
              <tr>
                <th>{t.status}</th>
                <th>{t.theRequest}</th>
                <th className="wide-only">{t.code}</th>
                <th className="wide-only">{t.key}</th>
                <th className="wide-only">{t.when}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((c) => (
                <Row key={c.id} call={c} open={open} />
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      {list.hasNextPage && (
        <div className="activity-older">
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage().catch(failed)}
          >
            {s.more}
          </Button>
        </div>
      )}
    </>
  );
}

function Row({ call: c, open }: { call: ApiCall; open: (id: string) => void }) {
  const t = useTexts(texts);
  return (
    <tr>
      <td>
        <Tag tone={c.status >= 500 ? "danger" : "warn"}>{c.status}</Tag>
      </td>
      <td>
        <button type="button" className="row-title activity-link" onClick={() => open(c.id)}>
          <span className="cut">
            <span className="activity-method">{c.method}</span> {c.path.replace("/functions/v1", "")}
          </span>
        </button>
        <span className="activity-second small muted cut" title={c.message}>
          {c.message}
          {c.repeats > 0 && ` · ${fill(t.times, { n: c.repeats + 1 })}`}
        </span>
        <span className="activity-second small muted phone-only">
          {c.code} · <Ago at={c.at} />
        </span>
      </td>
      <td className="wide-only">
        <code className="cut">{c.code}</code>
      </td>
      <td className="wide-only">
        <span className="cut activity-second">{c.key.label || t.keyGone}</span>
      </td>
      <td className="wide-only">
        <Ago at={c.at} />
      </td>
    </tr>
  );
}
