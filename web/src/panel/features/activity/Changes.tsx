import { Button, Select } from "@mantine/core";
import { IconFilterOff, IconHistory, IconX } from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Rows } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import type { Go } from "./ActivityPage";
import { narrowed, noFilters, type Address } from "./address";
import { Days } from "./Days";
import { authorName, sentence } from "./sentences";
import { texts } from "./texts";
import { kinds, type Change } from "./types";
import { useAuthors, useChanges } from "./useActivity";

/** Changes are who changed what. */
export function Changes({ address: a, go, open }: { address: Address; go: Go; open: (id: string) => void }) {
  const t = useTexts(texts);
  const authors = (useAuthors().data?.data ?? []).map((p) => ({ value: p.key, label: authorName(p, "") }));
  if (a.author && !authors.some((p) => p.value === a.author)) authors.push({ value: a.author, label: a.author });
  return (
    <>
      <div className="activity-filters" role="group" aria-label={t.filters}>
        <Select
          aria-label={t.author}
          placeholder={t.anyAuthor}
          value={a.author ?? null}
          onChange={(v) => go({ author: v ?? undefined })}
          clearable
          searchable={authors.length > 8}
          checkIconPosition="right"
          data={authors}
        />
        <Select
          aria-label={t.kind}
          placeholder={t.anyKind}
          value={a.kind ?? null}
          onChange={(v) => go({ kind: v ?? undefined, object: undefined })}
          clearable
          checkIconPosition="right"
          maxDropdownHeight={420}
          data={kinds.map((k) => ({ value: k, label: t[`kind_${k}`] }))}
        />
        {a.kind && a.object && (
          <Button
            variant="light"
            rightSection={<IconX size={14} />}
            className="activity-object"
            onClick={() => go({ object: undefined })}
          >
            <span className="cut">{a.object.length > 16 ? "…" + a.object.slice(-8) : a.object}</span>
          </Button>
        )}
        <Days address={a} go={go} />
      </div>
      <List address={a} open={open} clear={() => go(noFilters)} />
    </>
  );
}

function List({ address, open, clear }: { address: Address; open: (id: string) => void; clear: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const list = useChanges(address);
  if (list.isPending) return <Rows n={8} />;
  if (list.isError && !list.data)
    return (
      <Card flush label={t.changes}>
        <Failed error={list.error} retry={() => void list.refetch()} />
      </Card>
    );
  const rows = list.data!.pages.flatMap((p) => p.data);
  if (rows.length === 0) {
    return (
      <Card flush label={t.changes}>
        {narrowed(address) ? (
          <Empty icon={<IconFilterOff size={22} />} title={t.noChangesFound} text={t.noChangesFoundText}>
            <Button variant="default" onClick={clear}>
              {t.clear}
            </Button>
          </Empty>
        ) : (
          <Empty icon={<IconHistory size={22} />} title={t.noChanges} text={t.noChangesText} />
        )}
      </Card>
    );
  }
  return (
    <>
      <Card flush label={t.changes}>
        <div className="table-wrap">
          <table className="table activity-table activity-changes">
            <thead>
              <tr>
                <th>{t.change}</th>
                <th className="wide-only">{t.kind}</th>
                <th className="wide-only">{t.where}</th>
                <th className="wide-only">{t.when}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((c) => (
                <Row key={c.id} change={c} open={open} />
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

function Row({ change: c, open }: { change: Change; open: (id: string) => void }) {
  const t = useTexts(texts);
  return (
    <tr>
      <td>
        <button type="button" className="row-title activity-link activity-sentence" onClick={() => open(c.id)}>
          {sentence(c)}
        </button>
        <span className="activity-second small muted phone-only">
          {t[`origin_${c.by.origin}` as "origin_panel"]} · <Ago at={c.at} />
        </span>
      </td>
      <td className="wide-only">
        <span className="muted">{t[`kind_${c.object.kind}` as "kind_key"] ?? c.object.kind}</span>
      </td>
      <td className="wide-only">{t[`origin_${c.by.origin}` as "origin_panel"]}</td>
      <td className="wide-only">
        <Ago at={c.at} />
      </td>
    </tr>
  );
}
