// Agents, knowledge, tools and widgets: things of one kind that the company keeps.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { del, everything, get, post, put, type Row } from "../api";
import { useCompany } from "../session";

export type Kind = "agents" | "knowledge" | "sites" | "tools" | "widgets";

type Resources = { [K in Kind]: Row<`/${K}`> };

/** useList is all of a kind. */
export function useList<K extends Kind>(kind: K) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, kind],
    queryFn: ({ signal }) => everything(`/${kind as Kind}`, {}, signal) as Promise<Resources[K][]>,
  });
}

/** useOne is one of a kind. */
export function useOne<K extends Kind>(kind: K, id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, kind, id],
    queryFn: ({ signal }) => get(`/${kind as Kind}/${encodeURIComponent(id)}`, {}, signal) as Promise<Resources[K]>,
  });
}

/** useChanges adds, replaces and removes things of a kind. What the server only says about a thing is not sent back. */
export function useChanges<K extends Kind>(kind: K) {
  type T = Resources[K] & { id: string; warning?: string };
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
    add: useCallback(async (x: Partial<T>) => kept((await post(`/${kind as Kind}`, x)) as T), [kept, kind]),
    replace: useCallback(
      async ({ warning: _, ...x }: T) => kept((await put(`/${kind as Kind}/${encodeURIComponent(x.id)}`, x)) as T),
      [kept, kind],
    ),
    remove: useCallback(
      async (id: string) => {
        await del(`/${kind as Kind}/${encodeURIComponent(id)}`);
        client.removeQueries({ queryKey: [company.id, kind, id] });
        await client.invalidateQueries({ queryKey: [company.id, kind], exact: true });
      },
      [client, company.id, kind],
    ),
  };
}
