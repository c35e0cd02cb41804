import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { number } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { Card, Failed, Rows } from "../parts";
import { listTexts } from "../texts";
import { Foot, List, type ListProps } from "./List";

/** Query is what a list needs to know of the query that loads it, whole or page by page. */
interface Query {
  isPending: boolean;
  isLoadingError: boolean;
  error: unknown;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

/** Listed is a list that a query loads, in all its states. */
export function Listed<T>({
  query: q,
  empty,
  more,
  ...p
}: Omit<ListProps<T>, "foot" | "reading" | "fresh"> & {
  query: Query;
  /** empty is shown where there are no rows; `on` looks further, where rows may be left. */
  empty: ReactNode | ((on: ReactNode) => ReactNode);
  /** more is what the button for the next page says. */
  more?: string;
}) {
  const t = useTexts(listTexts);
  const language = useLanguage();
  const on = q.hasNextPage ? (
    <Button variant="default" loading={q.isFetchingNextPage} onClick={() => void q.fetchNextPage?.()}>
      {more ?? t.more}
    </Button>
  ) : null;
  if (!q.isPending && !q.isLoadingError && p.rows.length > 0)
    return <List {...p} foot={<Foot shown={number(p.rows.length, language)} more={on} />} />;
  if (q.isPending && !p.head) return <Rows n={5} />;
  return (
    <Card flush label={p.label} title={p.title}>
      {p.head}
      {q.isPending ? (
        <Rows n={5} bare />
      ) : q.isLoadingError ? (
        <Failed error={q.error} retry={() => void q.refetch()} />
      ) : typeof empty === "function" ? (
        empty(on)
      ) : (
        empty
      )}
    </Card>
  );
}
