import { Button } from "@mantine/core";
import { IconFilterOff, IconHistory } from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { Ago, agoWidth } from "../../ui/Ago";
import { FilterBar, type Filter } from "../../ui/list/FilterBar";
import { Columns, LiveRows, type Column } from "../../ui/list/List";
import { useMemory } from "../../ui/list/memory";
import { Views } from "../../ui/list/Views";
import { Card, Empty } from "../../ui/parts";
import type { Go } from "./ActivityPage";
import { narrowed, noFilters, type Address } from "./address";
import { searchOf } from "./Calls";
import { authorName, sentence } from "./sentences";
import { texts } from "./texts";
import { kinds, type Change } from "./types";
import { useAuthors, useChanges } from "./useActivity";

const idOf = (c: Change) => c.id;

/** Changes are who changed what. */
export function Changes({ address: a, go, open }: { address: Address; go: Go; open: (id: string) => void }) {
  const t = useTexts(texts);
  const authors = (useAuthors().data?.data ?? []).map((p) => ({ value: p.key, label: authorName(p, "") }));
  const memory = useMemory("change-log", []);
  const kind = (c: Change) => t[`kind_${c.object.kind}` as "kind_key"] ?? c.object.kind;
  const where = (c: Change) => t[`origin_${c.by.origin}` as "origin_panel"];
  const columns: Column<Change>[] = [
    { id: "change", label: t.change, fixed: true, cell: (c) => <span className="cut">{sentence(c)}</span> },
    { id: "kind", label: t.kind, width: 180, from: "tablet", cell: (c) => <span className="muted">{kind(c)}</span> },
    { id: "where", label: t.where, width: 190, from: "desktop", cell: where },
    { id: "when", label: t.when, width: agoWidth, from: "tablet", cell: (c) => <Ago at={c.at} /> },
  ];
  const filters: Filter[] = [
    { id: "author", label: t.author, value: a.author, options: authors, change: (author) => go({ author }) },
    {
      id: "kind",
      label: t.kind,
      value: a.kind,
      options: kinds.map((k) => ({ value: k, label: t[`kind_${k}`] })),
      change: (kind) => go({ kind, object: undefined }),
    },
    ...(a.kind && a.object
      ? [
          {
            id: "object",
            label: t.object,
            value: a.object,
            shown: a.object.length > 16 ? "…" + a.object.slice(-8) : a.object,
            change: (object: string | undefined) => go({ object }),
          },
        ]
      : []),
  ];
  return (
    <>
      <FilterBar filters={filters} range={{ value: a, change: go }} narrowed={narrowed(a)} clear={() => go(noFilters)}>
        <Views memory={memory} search={searchOf(a)} apply={(search) => go({ ...noFilters, ...search })} />
        <Columns columns={columns} memory={memory} />
      </FilterBar>
      <LiveRows
        label={t.changes}
        list={useChanges(a)}
        columns={columns}
        memory={memory}
        id={idOf}
        name={sentence}
        current={a.id}
        under={(c) => (
          <>
            {where(c)} · <Ago at={c.at} />
          </>
        )}
        target={(c) => ({ open: () => open(c.id) })}
        empty={() => (
          <Card flush label={t.changes}>
            {narrowed(a) ? (
              <Empty icon={<IconFilterOff size={22} />} title={t.noChangesFound} text={t.noChangesFoundText}>
                <Button variant="default" onClick={() => go(noFilters)}>
                  {t.clear}
                </Button>
              </Empty>
            ) : (
              <Empty icon={<IconHistory size={22} />} title={t.noChanges} text={t.noChangesText} />
            )}
          </Card>
        )}
      />
    </>
  );
}
