import { phone } from "../../ui/number";
import { Button, CloseButton } from "@mantine/core";
import { IconUsersMinus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { get } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Rows } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { explained, reasonText } from "../notifications/reasons";
import { State } from "../notifications/State";
import { useKeys } from "../notifications/useKeys";
import { texts } from "./texts";
import { groups, queryOf, type Address, type Group, type Reached as Recipient } from "./types";

const beat = 5000;

/** Reached are the recipients of a campaign by what became of them; each leads to its message. */
export function Reached({ name, address, go }: { name: string; address: Address; go: (to: Address) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const box = useRef<HTMLDivElement>(null);
  useKeys(box);
  const query = queryOf(name, address);
  const list = useInfiniteQuery({
    queryKey: [company.id, "campaigns", name, "recipients", query.state, query.reason],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      get("/campaigns/recipients", { ...query, limit: 50, cursor: pageParam }, signal),
    getNextPageParam: (p) => p.next_cursor ?? undefined,
  });
  const short = (list.data?.pages.length ?? 0) <= 1; // a long list that somebody reads stays as it is
  const { refetch } = list;
  useEffect(() => {
    if (!short) return;
    const clock = setInterval(() => {
      if (!document.hidden) void refetch();
    }, beat);
    return () => clearInterval(clock);
  }, [short, refetch]);
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const chips: (Group | undefined)[] = [undefined, ...(Object.keys(groups) as Group[]), "not_reached"];
  const on = (
    <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      {query.state || query.reason ? t.searchOn : s.more}
    </Button>
  );
  return (
    <Card flush label={t.list}>
      <header className="sent-states">
        <h2>{t.list}</h2>
        <div role="group" aria-label={t.state}>
          {chips.map((g) => (
            <button
              key={g ?? ""}
              type="button"
              aria-pressed={address.show === g && !(g === undefined && address.reason)}
              onClick={() => go({ show: g, reason: undefined })}
            >
              {g ? t[g] : t.all}
            </button>
          ))}
        </div>
        {address.reason && (
          <span className="tag campaigns-only">
            {fill(t.reasonOnly, { reason: reasonText(address.reason) })}
            <CloseButton size="xs" aria-label={t.clear} onClick={() => go({ reason: undefined })} />
          </span>
        )}
      </header>
      {list.isPending ? (
        <div className="campaigns-loading">
          <Rows n={6} />
        </div>
      ) : list.isError && rows.length === 0 ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : rows.length === 0 ? (
        list.hasNextPage ? (
          <Empty icon={<IconUsersMinus size={22} />} title={t.noneYet} text={t.noneYetText}>
            {on}
          </Empty>
        ) : (
          <Empty icon={<IconUsersMinus size={22} />} title={t.none} text={t.noneText} />
        )
      ) : (
        <>
          <div ref={box} className="table-wrap">
            <table className="table sent-table campaigns-reached">
              <thead>
                <tr>
                  <th>{t.number}</th>
                  <th>{t.state}</th>
                  <th className="wide-only">{t.when}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((r) => (
                  <Row key={r.notification_id + r.n} recipient={r} />
                ))}
              </tbody>
            </table>
          </div>
          {list.hasNextPage && <div className="sent-older sent-more">{on}</div>}
        </>
      )}
    </Card>
  );
}

function Row({ recipient: r }: { recipient: Recipient }) {
  const missed = r.state === "failed" || r.state === "skipped";
  return (
    <tr>
      <td>
        <Link
          className="row-title sent-link"
          to="/notifications/$id"
          params={{ id: r.notification_id }}
          search={{ m: r.n }}
        >
          {phone(r.number)}
        </Link>
      </td>
      <td>
        <State state={r.state} />
        {missed && <span className="sent-second small muted sent-reason">{explained(r.reason, r.detail)?.why}</span>}
      </td>
      <td className="wide-only">
        <Ago at={r.ended_at ?? r.read_at ?? r.delivered_at ?? r.sent_at ?? r.created_at} />
      </td>
    </tr>
  );
}
