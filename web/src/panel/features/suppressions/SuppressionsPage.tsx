import "./suppressions.css";
import { phone } from "../../ui/number";
import { Button, TextInput } from "@mantine/core";
import { IconBellOff, IconDownload, IconPlus, IconSearch, IconTrash } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address as addressOfRoute, del, get, Problem } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import type { Bulk } from "../../ui/list/BulkDialog";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { More } from "../../ui/More";
import { Copy, Empty, Page, Tag } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { useTyped } from "../../ui/typed";
import { AddSuppressions } from "./AddSuppressions";
import { texts } from "./texts";

export interface Suppression {
  number: string;
  user_id?: string;
  type: "all" | "marketing";
  reason: string;
  author?: string;
  created_at: string;
}

export function SuppressionsPage() {
  return (
    <Needs permission="notifications:read">
      <OptOuts />
    </Needs>
  );
}

const optedOut = "opted_out";
const byCaller = "asked by a caller";

function OptOuts() {
  const t = useTexts(texts);
  const company = useCompany();
  const can = useCan();
  const navigate = useNavigate();
  const { number = "" } = useSearch({ from: "/shell/suppressions" });
  const [adding, setAdding] = useState(false);
  const list = useInfiniteQuery({
    queryKey: [company.id, "suppressions", number],
    initialPageParam: "",
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) => get("/suppressions", { number, limit: 50, cursor: pageParam }, signal),
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const mine = can("notifications:send");
  const add = mine && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t.add}
    </Button>
  );
  const none = list.isSuccess && rows.length === 0;
  const client = useQueryClient();
  const known = (x: Suppression) => (t as Record<string, string>)["reason_" + x.reason.replaceAll(" ", "_")];
  const columns: Column<Suppression>[] = [
    {
      id: "number",
      label: t.number,
      fixed: true,
      cell: (x) => (
        <>
          <span className="cut">{shownOf(x)}</span>{" "}
          <span className="wide-only suppressions-copy">
            <Copy value={idOf(x)} label={t.copy} />
          </span>
        </>
      ),
    },
    {
      id: "skips",
      label: t.skips,
      width: 130,
      cell: (x) => <Tag tone={x.type === "all" ? "warn" : undefined}>{x.type === "all" ? t.all : t.marketing}</Tag>,
    },
    {
      id: "why",
      label: t.why,
      width: "26%",
      from: "tablet",
      cell: (x) => <span title={known(x) ?? x.reason}>{known(x) ?? x.reason}</span>,
    },
    {
      id: "who",
      label: t.who,
      width: "20%",
      from: "tablet",
      cell: (x) =>
        x.author ? (
          <span title={x.author}>{x.author}</span>
        ) : (
          <span className="muted">
            {x.reason === "manual" || !known(x) ? t.interface : x.reason === byCaller ? t.caller : t.recipient}
          </span>
        ),
    },
    { id: "when", label: t.when, width: 112, from: "tablet", cell: (x) => <Ago at={x.created_at} /> },
  ];
  const bulk: Bulk<Suppression>[] = [
    {
      id: "remove",
      label: t.lift,
      icon: <IconTrash size={15} />,
      danger: true,
      ask: { title: t.liftManyTitle, text: t.liftManyText, action: t.liftMany },
      run: lift,
      after: () => void client.invalidateQueries({ queryKey: [company.id, "suppressions"] }),
    },
  ];
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        <>
          {(rows.length > 0 || number) && (
            <Button
              variant="default"
              component="a"
              href={addressOfRoute("/suppressions/export")}
              download="suppressions.csv"
              leftSection={<IconDownload size={16} />}
            >
              {t.export}
            </Button>
          )}
          {add}
        </>
      }
    >
      <div className="stack">
        {(!none || number) && (
          <Search
            value={number}
            change={(v) =>
              void navigate({
                to: "/suppressions",
                replace: true,
                search: (now) => ({ ...now, number: v || undefined }),
              })
            }
          />
        )}
        <Listed
          label={t.title}
          query={list}
          rows={rows}
          columns={columns}
          id={idOf}
          name={shownOf}
          under={(x) => (
            <>
              {known(x) ?? x.reason} · <Ago at={x.created_at} />
            </>
          )}
          bulk={mine ? bulk : undefined}
          tools={mine ? (x) => <Lift x={x} /> : undefined}
          empty={
            number ? (
              <Empty icon={<IconSearch size={22} />} title={t.notFound} text={fill(t.notFoundText, { number })} />
            ) : (
              <Empty icon={<IconBellOff size={22} />} title={t.empty} text={t.emptyText}>
                {add}
              </Empty>
            )
          }
        />
      </div>
      <AddSuppressions opened={adding} close={() => setAdding(false)} />
    </Page>
  );
}

/** digitsIn are the digits of what may be the beginning of a number; undefined: it is none. */
function digitsIn(text: string): string | undefined {
  const digits = text.replace(/[\s().\u00a0+-]/g, "");
  return /^\d{0,15}$/.test(digits) ? digits : undefined;
}

/** Search finds numbers by how they begin; the list follows when the typing pauses. */
function Search({ value, change }: { value: string; change: (to: string) => void }) {
  const t = useTexts(texts);
  const [text, setText] = useTyped(value, change, 300, digitsIn);
  const fits = digitsIn(text) !== undefined;
  return (
    <TextInput
      className="suppressions-search"
      type="search"
      inputMode="tel"
      aria-label={t.search}
      placeholder={t.search}
      leftSection={<IconSearch size={16} />}
      value={text}
      maxLength={30}
      error={fits ? undefined : t.digits}
      onChange={(e) => setText(e.currentTarget.value)}
    />
  );
}

const idOf = (x: Suppression) => x.number || x.user_id || "";
const shownOf = (x: Suppression) => (x.number ? phone(x.number) : (x.user_id ?? ""));

/** lift removes an opt-out. One that is gone already is no failure. */
async function lift(x: Suppression): Promise<void> {
  try {
    await del(`/suppressions/${idOf(x)}`);
  } catch (e) {
    if (!(e instanceof Problem && e.status === 404)) throw e;
  }
}

/** Lift asks before it removes an opt-out. */
function Lift({ x }: { x: Suppression }) {
  const t = useTexts(texts);
  const company = useCompany();
  const client = useQueryClient();
  const shown = shownOf(x);
  const own = x.reason === optedOut || x.reason.startsWith("asked in");
  const run = async () => {
    try {
      await lift(x);
      succeeded(fill(t.lifted, { number: shown }));
    } finally {
      void client.invalidateQueries({ queryKey: [company.id, "suppressions"] });
    }
  };
  return (
    <More
      of={shown}
      acts={[
        {
          label: t.lift,
          icon: <IconTrash size={16} />,
          danger: true,
          ask: {
            title: fill(t.liftTitle, { number: shown }),
            text: x.reason === byCaller ? t.liftCaller : own ? t.liftOwn : t.liftText,
          },
          run,
        },
      ]}
    />
  );
}
