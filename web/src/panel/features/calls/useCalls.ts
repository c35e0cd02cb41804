import { useCallback, useEffect, useRef, useState } from "react";
import { get } from "../../api";
import { calls as stream, type LiveEvent } from "../../live";
import { useCompany } from "../../session";
import { queryOf, type Address } from "./address";
import { append, begin, nothing, refresh, replace, reveal, type Shown } from "./list";
import { underWay } from "./types";

const pageSize = 50;
const beat = 2000; // while a call is under way: that it rings or is answered is no event

interface Listing {
  shown: Shown;
  phase: "loading" | "ready" | "failed";
  error?: unknown;
  more: boolean;
}

/** useCalls is the list of calls, as it changes. still reports whether somebody reads the list, so that it must not move. */
export function useCalls(address: Address, still: () => boolean) {
  const company = useCompany();
  const [s, set] = useState<Listing>({ shown: nothing, phase: "loading", more: false });
  const text = JSON.stringify(queryOf(address));
  const query = useRef<Record<string, string>>({});
  query.current = JSON.parse(text) as Record<string, string>;
  const shown = useRef(s.shown);
  shown.current = s.shown;
  const generation = useRef(0);

  const first = useCallback(
    async (again: boolean) => {
      const mine = again ? generation.current : ++generation.current;
      if (!again) set({ shown: nothing, phase: "loading", more: false });
      try {
        const page = await get("/calls", { ...query.current, limit: pageSize });
        if (mine !== generation.current) return;
        set((now) => ({
          ...now,
          shown: again ? refresh(now.shown, page, still()) : begin(page),
          phase: "ready",
          error: undefined,
        }));
      } catch (error) {
        if (mine === generation.current)
          set((now) => (again && now.phase === "ready" ? now : { ...now, phase: "failed", error }));
      }
    },
    [still],
  );
  useEffect(() => {
    void first(false);
  }, [first, text, company.id]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = (ms: number) => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void first(true);
      }, ms);
    };
    const happened = (e: LiveEvent) => {
      const what = e.data as { call_id?: string; notification_id?: string } | null;
      const id = what?.call_id ?? what?.notification_id;
      again(200);
      const at = id === undefined ? -1 : shown.current.rows.findIndex((r) => r.call_id === id);
      if (at >= pageSize)
        void get(`/calls/${id}`).then(
          (c) => set((now) => ({ ...now, shown: replace(now.shown, c) })),
          () => {
            /* the next event shows it */
          },
        );
    };
    const clock = setInterval(() => {
      if (!document.hidden && shown.current.rows.some((r) => underWay(r.state))) again(0);
    }, beat);
    // A browser has few connections to a site: a window that nobody sees has no stream.
    let leave = document.hidden ? undefined : stream.listen(happened);
    const seen = () => {
      if (document.hidden) {
        leave?.();
        leave = undefined;
        return;
      }
      leave ??= stream.listen(happened);
      again(0);
    };
    document.addEventListener("visibilitychange", seen);
    return () => {
      leave?.();
      clearInterval(clock);
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [first]);

  const older = useCallback(async () => {
    const cursor = shown.current.cursor;
    if (!cursor) return;
    const mine = generation.current;
    set((now) => ({ ...now, more: true }));
    try {
      const page = await get("/calls", { ...query.current, limit: pageSize, cursor });
      if (mine === generation.current) set((now) => ({ ...now, shown: append(now.shown, page), more: false }));
    } catch (error) {
      if (mine === generation.current) set((now) => ({ ...now, more: false }));
      throw error;
    }
  }, []);
  return {
    ...s,
    older,
    retry: () => void first(false),
    reveal: () => set((now) => ({ ...now, shown: reveal(now.shown) })),
  };
}

/** useLive is whether what happens is shown as it happens. */
export function useLive(): boolean {
  const [live, set] = useState(stream.state !== "broken");
  useEffect(() => stream.watch(() => set(stream.state !== "broken")), []);
  return live;
}
