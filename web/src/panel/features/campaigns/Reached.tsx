import { addressee } from "../../ui/number";
import { CloseButton } from "@mantine/core";
import { IconUsersMinus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { get } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Ago } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty } from "../../ui/parts";
import { pageTexts } from "../notifications/texts";
import { explained, reasonText } from "../notifications/reasons";
import { State } from "../notifications/State";
import { texts } from "./texts";
import { groups, queryOf, type Address, type Group, type Reached as Recipient } from "./types";

const beat = 5000;

/** Reached are the recipients of a campaign by what became of them; each leads to its message. */
export function Reached({ name, address, go }: { name: string; address: Address; go: (to: Address) => void }) {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const company = useCompany();
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
  const columns: Column<Recipient>[] = [
    { id: "number", label: t.number, fixed: true, cell: (r) => <span className="cut">{r.name || addressee(r)}</span> },
    { id: "state", label: t.state, width: 150, cell: (r) => <State state={r.state} /> },
    {
      id: "why",
      label: p.why,
      width: "38%",
      from: "tablet",
      cell: (r) => {
        const missed = r.state === "failed" || r.state === "skipped";
        const why = missed && explained(r.reason, r.detail)?.why;
        return why ? <span title={why}>{why}</span> : null;
      },
    },
    {
      id: "when",
      label: t.when,
      width: 128,
      from: "tablet",
      cell: (r) => <Ago at={r.ended_at ?? r.read_at ?? r.delivered_at ?? r.sent_at ?? r.created_at} />,
    },
  ];
  return (
    <Listed
      label={t.list}
      query={list}
      rows={rows}
      columns={columns}
      id={(r) => r.notification_id + "/" + r.n}
      name={(r) => addressee(r)}
      target={(r) => ({ to: "/notifications/$id", params: { id: r.notification_id }, search: { m: r.n } })}
      more={query.state || query.reason ? t.searchOn : undefined}
      empty={(on) =>
        on ? (
          <Empty icon={<IconUsersMinus size={22} />} title={t.noneYet} text={t.noneYetText}>
            {on}
          </Empty>
        ) : (
          <Empty icon={<IconUsersMinus size={22} />} title={t.none} text={t.noneText} />
        )
      }
      head={
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
      }
    />
  );
}
