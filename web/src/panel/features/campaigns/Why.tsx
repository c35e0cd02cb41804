import { Button } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { get } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Card, Failed, Rows } from "../../ui/parts";
import { reasonText } from "../notifications/reasons";
import { ResendFailed } from "./ResendFailed";
import { texts } from "./texts";
import type { Address, Campaign } from "./types";

const byItself = 25; // requests, each of which looks at 2,000 recipients

/** Why is how many recipients were not reached, by reason. The reasons are counted when they are looked at, part by part. */
export function Why({ campaign: c, address, go }: { campaign: Campaign; address: Address; go: (to: Address) => void }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const company = useCompany();
  const missed = c.failed + c.skipped;
  const list = useInfiniteQuery({
    queryKey: [company.id, "campaigns", c.name, "reasons", missed],
    initialPageParam: "",
    enabled: missed > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) => get("/campaigns/reasons", { name: c.name, cursor: pageParam }, signal),
    getNextPageParam: (p) => p.next_cursor ?? undefined,
  });
  const pages = list.data?.pages ?? [];
  const sums = new Map<string, number>();
  for (const p of pages)
    for (const [reason, n] of Object.entries(p.reasons)) sums.set(reason, (sums.get(reason) ?? 0) + n);
  const all = [...sums].sort((a, b) => b[1] - a[1]);
  const found = all.reduce((sum, [, n]) => sum + n, 0),
    looked = pages.reduce((sum, p) => sum + p.looked, 0);
  const more = list.hasNextPage && found < missed; // the others were reached
  const { fetchNextPage, isFetching } = list;
  useEffect(() => {
    if (more && !isFetching && pages.length < byItself) void fetchNextPage();
  }, [more, isFetching, pages.length, fetchNextPage]);
  const most = all[0]?.[1] ?? 1;
  return (
    <Card title={t.why}>
      {missed === 0 ? (
        <p className="muted sent-note">{t.whyNone}</p>
      ) : list.isPending ? (
        <Rows n={2} />
      ) : list.isError && pages.length === 0 ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <>
          <ul className="campaigns-why">
            {all.map(([reason, n]) => (
              <li key={reason}>
                <button
                  type="button"
                  aria-pressed={address.reason === reason}
                  title={t.byReason}
                  onClick={() => go(address.reason === reason ? { reason: undefined } : { reason, show: undefined })}
                >
                  <span>{reasonText(reason)}</span>
                  <span className="muted">{number(n, language)}</span>
                  <i aria-hidden="true" style={{ width: `${Math.max(2, (n / most) * 100)}%` }} />
                </button>
              </li>
            ))}
          </ul>
          {more && (
            <p className="small muted sent-note" role="status">
              {fill(t.counted, { looked: number(looked, language), total: number(c.recipients, language) })}
            </p>
          )}
          <ResendFailed campaign={c} />
          {more && pages.length >= byItself && (
            <Button mt={8} size="xs" variant="default" loading={isFetching} onClick={() => void fetchNextPage()}>
              {t.countOn}
            </Button>
          )}
        </>
      )}
    </Card>
  );
}
