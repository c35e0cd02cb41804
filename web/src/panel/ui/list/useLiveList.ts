import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Live, LiveEvent } from "../../live";
import { useCompany } from "../../session";
import { rowsBy, type Part, type Shown } from "./rows";
import { Sync } from "./sync";

export const pageSize = 50;

/** Listed is a list that changes, the newest row first. */
export interface Listed<T> {
  /** key names the list and its filters. */
  key: unknown[];
  id: (row: T) => string;
  page: (cursor: string | undefined, signal?: AbortSignal) => Promise<Part<T>>;
  /** every is the time after which the first page is read again, in milliseconds: for a list without a stream. */
  every?: number;
  live?: {
    stream: Live;
    of: (e: LiveEvent) => string | undefined;
    adds: (e: LiveEvent) => boolean;
    some: (ids: string[]) => Promise<T[]>;
    /** open reports whether a row may change without an event; such rows are read again every `beat` milliseconds. */
    open: (row: T) => boolean;
    beat: number;
  };
}

/** Reading tells whether someone reads the list: the pointer or the focus is in it, or it is scrolled. */
export interface Reading {
  box: React.RefObject<HTMLDivElement | null>;
  pointer: React.RefObject<boolean>;
  chosen: React.RefObject<boolean>;
}

/** useReading gives a list what tells whether it is being read. */
function useReading(): Reading & { still: () => boolean } {
  const box = useRef<HTMLDivElement>(null);
  const pointer = useRef(false);
  const chosen = useRef(false); // rows are selected
  const still = useCallback(
    () => pointer.current || chosen.current || !!box.current?.contains(document.activeElement) || window.scrollY > 120,
    [],
  );
  return { box, pointer, chosen, still };
}

/**
 * useLiveList reads a list and keeps it up to date. While someone reads it, its rows stay where they are: they change
 * in place, and new ones are held back until they are revealed.
 */
export function useLiveList<T>(listed: Listed<T>) {
  const company = useCompany();
  const client = useQueryClient();
  const reading = useReading();
  const now = useRef(listed);
  now.current = listed;
  const key = [company.id, "list", ...listed.key];
  const name = JSON.stringify(key);
  const keyNow = useRef(key);
  keyNow.current = key;
  const list = rowsBy<T>((r) => now.current.id(r));
  const query = useQuery<Shown<T>>({
    queryKey: key,
    staleTime: Infinity, // Sync reads it again
    refetchOnReconnect: false,
    queryFn: async ({ signal }) => list.begin(await now.current.page(undefined, signal)),
  });
  const shown = useRef<Shown<T>>(list.nothing);
  shown.current = query.data ?? list.nothing;
  const change = useCallback(
    (f: (s: Shown<T>) => Shown<T>) => client.setQueryData<Shown<T>>(keyNow.current, (s) => s && f(s)),
    [client],
  );

  const syncing = useRef<Sync<T>>(undefined);
  const { every } = listed;
  const { stream, beat } = listed.live ?? {};
  const { still } = reading;
  useEffect(() => {
    const mine = keyNow.current;
    const live = () => now.current.live;
    const sync = new Sync<T>({
      id: (r) => now.current.id(r),
      of: (e) => live()?.of(e),
      adds: (e) => live()?.adds(e) ?? false,
      open: (r) => live()?.open(r) ?? false,
      first: () => now.current.page(undefined),
      some: (ids) => live()?.some(ids) ?? Promise.resolve([]),
      rows: () => [...shown.current.fresh, ...shown.current.rows],
      took: (got) => {
        if (client.isFetching({ queryKey: mine, exact: true }))
          void client.cancelQueries({ queryKey: mine, exact: true });
        client.setQueryData<Shown<T>>(mine, (s) => list.refresh(s ?? list.nothing, got, still()));
      },
      changed: (rows) => client.setQueryData<Shown<T>>(mine, (s) => s && list.replace(s, ...rows)),
    });
    syncing.current = sync;
    if (client.getQueryData(mine)) sync.everything(); // kept from the last visit
    const clocks = [
      every && setInterval(() => !document.hidden && shown.current.rows.length <= pageSize && sync.newest(), every),
      beat && setInterval(() => !document.hidden && sync.tick(), beat),
    ];
    const leave = stream?.seen((e) => sync.happened(e));
    return () => {
      sync.stop();
      leave?.();
      for (const c of clocks) if (c) clearInterval(c);
    };
  }, [client, name, still, stream, every, beat]);

  const [more, setMore] = useState(false);
  const older = useCallback(async () => {
    const cursor = shown.current.cursor;
    if (!cursor) return;
    const mine = keyNow.current;
    setMore(true);
    try {
      const got = await now.current.page(cursor);
      client.setQueryData<Shown<T>>(mine, (s) => s && (s.cursor === cursor ? list.append(s, got) : s));
    } finally {
      setMore(false);
    }
  }, [client]);
  return {
    shown: shown.current,
    phase: query.data ? ("ready" as const) : query.isError ? ("failed" as const) : ("loading" as const),
    error: query.error,
    more,
    older,
    reading,
    /** again reads all of it again, after a change that is no event. */
    again: () => syncing.current?.everything(),
    retry: () => void query.refetch(),
    reveal: () => change(list.reveal),
  };
}

export type LiveList<T> = ReturnType<typeof useLiveList<T>>;

/** useStreaming reports whether what happens is shown as it happens. */
export function useStreaming(stream: Live): boolean {
  return useSyncExternalStore(
    useCallback((changed: () => void) => stream.watch(changed), [stream]),
    () => stream.state !== "broken",
  );
}
