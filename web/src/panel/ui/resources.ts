// Agents, knowledge, tools and widgets: things of one kind that the company keeps.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { del, everything, get, post, put } from "../api";
import { useCompany } from "../session";

export type Kind = "agents" | "knowledge" | "sites" | "tools" | "widgets";

/** useList is all of a kind. */
export function useList<T>(kind: Kind) {
  const company = useCompany();
  return useQuery({ queryKey: [company.id, kind], queryFn: ({ signal }) => everything<T>("/" + kind, {}, signal) });
}

/** useOne is one of a kind. */
export function useOne<T>(kind: Kind, id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, kind, id],
    queryFn: ({ signal }) => get<T>(`/${kind}/${encodeURIComponent(id)}`, {}, signal),
  });
}

/** useChanges adds, replaces and removes things of a kind. What the server only says about a thing is not sent back. */
export function useChanges<T extends { id?: string; warning?: string }>(kind: Kind) {
  const company = useCompany();
  const client = useQueryClient();
  const kept = useCallback(
    (x: T) => {
      client.setQueryData([company.id, kind, x.id], x);
      void client.invalidateQueries({ queryKey: [company.id, kind], exact: true });
      return x;
    },
    [client, company.id, kind],
  );
  return {
    add: useCallback(async (x: Partial<T>) => kept(await post<T>("/" + kind, x)), [kept, kind]),
    replace: useCallback(
      async ({ warning: _, ...x }: T) => kept(await put<T>(`/${kind}/${encodeURIComponent(x.id!)}`, x)),
      [kept, kind],
    ),
    remove: useCallback(
      async (id: string) => {
        await del(`/${kind}/${encodeURIComponent(id)}`);
        client.removeQueries({ queryKey: [company.id, kind, id] });
        await client.invalidateQueries({ queryKey: [company.id, kind], exact: true });
      },
      [client, company.id, kind],
    ),
  };
}
