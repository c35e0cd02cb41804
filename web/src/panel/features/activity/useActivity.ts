import { useQuery } from "@tanstack/react-query";
import { everything, get, Problem, type Asks, type Gives, type Page, type Query, type Row } from "../../api";
import { useCan, useCompany } from "../../session";
import { spanOf } from "../../ui/list/range";
import { pageSize, useLiveList } from "../../ui/list/useLiveList";
import type { Address } from "./address";
import type { Key } from "./types";

const every = 5000;

/** usePages is a list whose first page is read again every few seconds. */
function usePages<A extends "/activity/calls" | "/activity/accepted" | "/activity/changes">(
  path: A,
  query: Query,
  id: (row: Row<A>) => string,
) {
  return useLiveList<Row<A>>({
    key: ["activity", path, query],
    id,
    every,
    page: (cursor, signal) =>
      get(path, { ...query, limit: pageSize, cursor } as unknown as Asks<A>, signal) as unknown as Promise<
        Page<Row<A>>
      >,
  });
}

export function useCalls(a: Address) {
  return usePages(
    "/activity/calls",
    {
      status: a.status === "accepted" ? undefined : a.status,
      code: a.code,
      path: a.path,
      key: a.key,
      request_id: a.request,
      ...spanOf(a),
    },
    (c) => c.id,
  );
}

export function useAccepted(a: Address) {
  return usePages("/activity/accepted", { key: a.key, request_id: a.request, ...spanOf(a) }, (r) => r.notification_id);
}

export function useChanges(a: Address) {
  return usePages(
    "/activity/changes",
    { author: a.author, kind: a.kind, object: a.kind && a.object, ...spanOf(a) },
    (c) => c.id,
  );
}

function useOne<A extends "/activity/calls" | "/activity/changes">(path: A, id: string | undefined) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "activity", path, id],
    enabled: !!id,
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      get(`${path as "/activity/calls"}/${id!}`, {}, signal) as unknown as Promise<Gives<"get", `${A}/${string}`>>,
    retry: (times, e) => times < 2 && !(e instanceof Problem && e.status < 500),
  });
}

export function useCall(id: string | undefined) {
  return useOne("/activity/calls", id);
}

export function useChange(id: string | undefined) {
  return useOne("/activity/changes", id);
}

export function useAuthors() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "activity", "authors"],
    staleTime: 30_000,
    queryFn: ({ signal }) => get("/activity/authors", {}, signal),
  });
}

/** useKeyNames are the company's keys, for the filter. */
export function useKeyNames(): Key[] {
  const company = useCompany();
  const can = useCan();
  return (
    useQuery({
      queryKey: [company.id, "activity", "keys"],
      staleTime: 30_000,
      enabled: can("keys:read"),
      queryFn: ({ signal }) => everything("/keys", {}, signal),
    }).data ?? []
  );
}
