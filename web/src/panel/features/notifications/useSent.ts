import { useCallback, useEffect, useRef, useState } from "react";
import { get } from "../../api";
import { notifications as stream } from "../../live";
import { useCompany } from "../../session";
import { rowsBy, type Shown } from "../../ui/rows";
import { queryOf, type Address } from "./address";
import { Sync } from "./sync";
import { open, type Sent } from "./types";

const pageSize = 50;
const beat = 4000; // while something is under way

const list = rowsBy<Sent>((n) => n.notification_id);

interface Listing {
  shown: Shown<Sent>;
  phase: "loading" | "ready" | "failed";
  error?: unknown;
  more: boolean;
}

/** useSent is the list of notifications, as it changes. still reports whether somebody reads the list, so that it must not move. */
export function useSent(address: Address, still: () => boolean) {
  const company = useCompany();
  const [s, set] = useState<Listing>({ shown: list.nothing, phase: "loading", more: false });
  const text = JSON.stringify(queryOf(address));
  const query = useRef<Record<string, string>>({});
  query.current = JSON.parse(text) as Record<string, string>;
  const shown = useRef(s.shown);
  shown.current = s.shown;
  const loading = useRef(true);
  loading.current = s.phase === "loading";
  const generation = useRef(0);
  const page = useCallback(
    (cursor?: string) => get("/notifications", { ...query.current, limit: pageSize, cursor }),
    [],
  );

  const first = useCallback(async () => {
    const mine = ++generation.current;
    set({ shown: list.nothing, phase: "loading", more: false });
    try {
      const got = await page();
      if (mine === generation.current) set({ shown: list.begin(got), phase: "ready", more: false });
    } catch (error) {
      if (mine === generation.current) set((now) => ({ ...now, phase: "failed", error }));
    }
  }, [page]);
  useEffect(() => {
    void first();
  }, [first, text, company.id]);

  useEffect(() => {
    const sync = new Sync({
      first: async () => {
        const mine = generation.current;
        const got = await page();
        return mine === generation.current ? got : null;
      },
      some: async (ids) => (await get("/notifications", { ids: ids.join(",") })).data,
      rows: () => [...shown.current.fresh, ...shown.current.rows],
      took: (got) => {
        if (loading.current) generation.current++; // what the first load still brings is older
        set((now) => ({ ...now, shown: list.refresh(now.shown, got, still()), phase: "ready", error: undefined }));
      },
      changed: (rows) => set((now) => ({ ...now, shown: list.replace(now.shown, ...rows) })),
      moves: () => "state" in query.current,
    });
    const clock = setInterval(() => {
      if (!document.hidden && shown.current.rows.some(open)) sync.tick();
    }, beat);
    const leave = stream.seen((e) => sync.happened(e));
    return () => {
      sync.stop();
      leave();
      clearInterval(clock);
    };
  }, [page, still, company.id]);

  const older = useCallback(async () => {
    const cursor = shown.current.cursor;
    if (!cursor) return;
    const mine = generation.current;
    set((now) => ({ ...now, more: true }));
    try {
      const got = await page(cursor);
      if (mine === generation.current) set((now) => ({ ...now, shown: list.append(now.shown, got), more: false }));
    } catch (error) {
      if (mine === generation.current) set((now) => ({ ...now, more: false }));
      throw error;
    }
  }, [page]);
  return {
    ...s,
    older,
    retry: () => void first(),
    reveal: () => set((now) => ({ ...now, shown: list.reveal(now.shown) })),
  };
}

/** useLive is whether what happens is shown as it happens. */
export function useLive(): boolean {
  const [live, set] = useState(stream.state !== "broken");
  useEffect(() => stream.watch(() => set(stream.state !== "broken")), []);
  return live;
}
