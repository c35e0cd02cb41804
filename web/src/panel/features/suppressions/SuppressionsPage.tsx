import "./suppressions.css";
import { phone } from "../../ui/number";
import { Button, TextInput } from "@mantine/core";
import { IconBellOff, IconDownload, IconPlus, IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address as addressOfRoute, del, get, Problem } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import { Card, Copy, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
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
      <List />
    </Needs>
  );
}

const optedOut = "opted_out";
const byCaller = "asked by a caller";

function List() {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const can = useCan();
  const navigate = useNavigate();
  const { number = "" } = useSearch({ strict: false }) as { number?: string };
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
                to: "/suppressions" as never,
                replace: true,
                search: ((now: Record<string, unknown>) => ({ ...now, number: v || undefined })) as never,
              })
            }
          />
        )}
        {list.isPending ? (
          <Rows n={6} />
        ) : list.isLoadingError ? (
          <Card flush label={t.title}>
            <Failed error={list.error} retry={() => void list.refetch()} />
          </Card>
        ) : (
          <Card flush label={t.title}>
            {rows.length === 0 ? (
              number ? (
                <Empty icon={<IconSearch size={22} />} title={t.notFound} text={fill(t.notFoundText, { number })} />
              ) : (
                <Empty icon={<IconBellOff size={22} />} title={t.empty} text={t.emptyText}>
                  {add}
                </Empty>
              )
            ) : (
              <div className="table-wrap">
                <table className="table">
                  <thead>
                    <tr>
                      <th>{t.number}</th>
                      <th>{t.skips}</th>
                      <th className="wide-only">{t.why}</th>
                      <th className="wide-only">{t.who}</th>
                      <th className="wide-only">{t.when}</th>
                      <th>
                        <span className="hidden">{s.actions}</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((x) => (
                      <Row key={x.number || x.user_id} x={x} mine={mine} />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </Card>
        )}
        {list.hasNextPage && (
          <div className="suppressions-more">
            <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              {s.more}
            </Button>
          </div>
        )}
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

function Row({ x, mine }: { x: Suppression; mine: boolean }) {
  const t = useTexts(texts);
  const company = useCompany();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const shown = x.number ? phone(x.number) : (x.user_id ?? "");
  const known = (t as Record<string, string>)["reason_" + x.reason.replaceAll(" ", "_")];
  const lift = async () => {
    const own = x.reason === optedOut || x.reason.startsWith("asked in");
    const text = x.reason === byCaller ? t.liftCaller : own ? t.liftOwn : t.liftText;
    if (!(await confirm({ title: fill(t.liftTitle, { number: shown }), text, action: t.lift, danger: own }))) return;
    setBusy(true);
    try {
      await del(`/suppressions/${x.number || x.user_id}`);
      succeeded(fill(t.lifted, { number: shown }));
    } catch (e) {
      if (!(e instanceof Problem && e.status === 404)) failed(e);
    } finally {
      setBusy(false);
      void client.invalidateQueries({ queryKey: [company.id, "suppressions"] });
    }
  };
  return (
    <tr>
      <td>
        <span className={x.number ? "row-title nowrap" : "row-title suppressions-id"}>{shown}</span>{" "}
        <span className="wide-only suppressions-copy">
          <Copy value={x.number || x.user_id || ""} label={t.copy} />
        </span>
        <span className="phone-only small muted">
          {known ?? x.reason} · <Ago at={x.created_at} />
        </span>
      </td>
      <td>
        <Tag tone={x.type === "all" ? "warn" : undefined}>{x.type === "all" ? t.all : t.marketing}</Tag>
      </td>
      <td className="wide-only">
        <span className="suppressions-why">{known ?? x.reason}</span>
      </td>
      <td className="wide-only">
        {x.author ?? (
          <span className="muted">
            {x.reason === "manual" || !known ? t.interface : x.reason === byCaller ? t.caller : t.recipient}
          </span>
        )}
      </td>
      <td className="wide-only">
        <Ago at={x.created_at} />
      </td>
      <td>
        {mine && (
          <Button variant="subtle" color="red" size="compact-sm" loading={busy} onClick={() => void lift()}>
            {t.lift}
            <span className="hidden"> {shown}</span>
          </Button>
        )}
      </td>
    </tr>
  );
}
