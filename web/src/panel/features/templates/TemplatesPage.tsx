import "./templates.css";
import { phone } from "../../ui/number";
import { Button, TextInput } from "@mantine/core";
import { IconPlus, IconSearch, IconSend2, IconTemplate, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { languageName } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import type { Bulk } from "../../ui/list/BulkDialog";
import { FilterBar } from "../../ui/list/FilterBar";
import { Columns, type Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { useMemory } from "../../ui/list/memory";
import { Empty, Page } from "../../ui/parts";
import { useTyped } from "../../ui/typed";
import { addressOf, type Address } from "./address";
import { filtered, ordered } from "./list";
import { State, Unsupported } from "./State";
import { LastSync, SyncButton } from "./Sync";
import { texts } from "./texts";
import { statuses, type Status, type TemplateRow } from "./types";
import { useTemplateChanges, useTemplates } from "./useTemplates";

export function TemplatesPage() {
  return (
    <Needs permission="templates:read">
      <Templates />
    </Needs>
  );
}

function Templates() {
  const t = useTexts(texts);
  const write = useCan()("templates:write");
  const list = useTemplates();
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        write && (
          <>
            <SyncButton />
            <Button
              leftSection={<IconPlus size={16} />}
              renderRoot={(props) => <Link to="/templates/new" {...props} />}
            >
              {t.create}
            </Button>
          </>
        )
      }
    >
      <Shown list={list} write={write} />
    </Page>
  );
}

function Shown({ list, write }: { list: ReturnType<typeof useTemplates>; write: boolean }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/templates" });
  const go = useCallback(
    (to: Partial<Record<keyof Address, string | undefined>>) =>
      void navigate({ to: "/templates", replace: true, search: (now) => addressOf({ ...now, ...to }) }),
    [navigate],
  );
  const all = list.data ?? none;
  const { status, language: only, q } = address;
  const rows = useMemo(() => ordered(filtered(all, { status, language: only, q })), [all, status, only, q]);
  const memory = useMemory("templates", []);
  const bulk = useBulk();
  const clear = () => go({ status: undefined, language: undefined, q: undefined });
  const columns = useColumns(new Set(all.map((x) => x.sender)).size > 1);
  const narrowed = Object.keys(address).length > 0;
  const name = (l: string) => languageName(l.replace("_", "-"), language);
  const counts = new Map<Status, number>();
  for (const x of all) counts.set(x.status, (counts.get(x.status) ?? 0) + 1);
  return (
    <>
      {all.length > 0 && (
        <>
          <FilterBar
            search={<Search value={q ?? ""} change={(v) => go({ q: v || undefined })} />}
            filters={[
              {
                id: "status",
                label: t.status,
                value: status,
                options: statuses.map((s) => ({ value: s, label: `${t[s]} (${counts.get(s) ?? 0})` })),
                shown: status && t[status],
                change: (v) => go({ status: v }),
              },
              {
                id: "language",
                label: t.language,
                value: only,
                options: [...new Set(all.map((x) => x.language))].sort().map((l) => ({ value: l, label: name(l) })),
                change: (v) => go({ language: v }),
              },
            ]}
            narrowed={narrowed}
            clear={clear}
          >
            <Columns columns={columns} memory={memory} />
          </FilterBar>
          <LastSync />
        </>
      )}
      <Listed
        label={t.title}
        query={list}
        rows={rows}
        columns={columns}
        memory={memory}
        id={idOf}
        name={(x) => `${x.name}, ${name(x.language)}`}
        under={(x) => `${name(x.language)} · ${x.body}`}
        target={(x) => ({ to: "/templates/$id", params: { id: x.id } })}
        bulk={write ? bulk : undefined}
        find={t.search}
        empty={
          narrowed ? (
            <Empty icon={<IconSearch size={22} />} title={t.notFound} text={t.notFoundText}>
              <Button variant="default" onClick={clear}>
                {t.clear}
              </Button>
            </Empty>
          ) : (
            <Empty icon={<IconTemplate size={22} />} title={t.none} text={t.noneText}>
              {write && <Button renderRoot={(props) => <Link to="/templates/new" {...props} />}>{t.create}</Button>}
            </Empty>
          )
        }
      />
    </>
  );
}

const none: TemplateRow[] = [];
const idOf = (x: TemplateRow) => x.id;

/** useColumns are what the list shows of a template; `several`: of more than one sender. */
function useColumns(several: boolean): Column<TemplateRow>[] {
  const t = useTexts(texts);
  const language = useLanguage();
  const name = (x: TemplateRow) => languageName(x.language.replace("_", "-"), language);
  const category = (x: TemplateRow) => t[x.category as "UTILITY"] ?? x.category;
  const all: Column<TemplateRow>[] = [
    { id: "name", label: t.name, fixed: true, by: (x) => x.name, cell: (x) => <span className="cut">{x.name}</span> },
    {
      id: "language",
      label: t.language,
      width: 164,
      from: "tablet",
      by: name,
      cell: (x) => <span title={`${name(x)} (${x.language})`}>{name(x)}</span>,
    },
    {
      id: "body",
      label: t.part_body,
      width: "22%",
      from: "desktop",
      cell: (x) => (
        <span className="small muted" dir="auto" title={x.body}>
          {x.body}
        </span>
      ),
    },
    {
      id: "status",
      label: t.status,
      width: 130,
      by: (x) => statuses.indexOf(x.status),
      cell: (x) => (x.unsupported?.length ? <Unsupported parts={x.unsupported} /> : <State status={x.status} />),
    },
    { id: "category", label: t.category, width: 128, from: "tablet", by: category, cell: category },
    {
      id: "sender",
      label: t.sender,
      width: 150,
      from: "desktop",
      by: (x) => x.sender,
      cell: (x) => <span title={phone(x.number)}>{x.sender}</span>,
    },
    {
      id: "changed",
      label: t.changed,
      width: 112,
      from: "tablet",
      by: (x) => x.updated_at,
      cell: (x) => <Ago at={x.updated_at} />,
    },
  ];
  return several ? all : all.filter((c) => c.id !== "sender");
}

/** useBulk is what can be done with the selected templates. */
function useBulk(): Bulk<TemplateRow>[] {
  const t = useTexts(texts);
  const { submit, remove } = useTemplateChanges();
  return [
    {
      id: "submit",
      label: t.submit,
      icon: <IconSend2 size={15} />,
      fits: (x) => x.status === "draft",
      ask: { title: t.submitManyTitle, text: t.submitManyText, action: t.submitMany },
      run: async (x) => void (await submit(x.id)),
    },
    {
      id: "delete",
      label: t.delete,
      icon: <IconTrash size={15} />,
      danger: true,
      ask: { title: t.deleteManyTitle, text: t.deleteThere, action: t.deleteMany },
      run: async (x) => void (await remove(x.id)),
    },
  ];
}

/** Search looks in names and texts; the list follows when the typing pauses. */
function Search({ value, change }: { value: string; change: (q: string) => void }) {
  const t = useTexts(texts);
  const [text, setText] = useTyped(value, change, 200);
  return (
    <TextInput
      aria-label={t.search}
      placeholder={t.search}
      type="search"
      leftSection={<IconSearch size={15} />}
      value={text}
      maxLength={100}
      onChange={(e) => setText(e.currentTarget.value)}
    />
  );
}
