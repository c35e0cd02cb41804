// Flows: the list, one with its draft, its versions, and the runs.
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { del, get, post, put } from "../../api";
import { inbox } from "../../live";
import { useCompany } from "../../session";
import type { Update } from "../talk/types";
import type { Editable, Faults, Flow, Run, Version } from "./types";

const at = (id: string) => `/flows/${encodeURIComponent(id)}` as const;

export function useOverview(every: number | false = 15_000) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "flows"],
    refetchInterval: every,
    queryFn: async ({ signal }) => (await get("/flows/overview", {}, signal)).data,
  });
}

export function useFlow(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "flows", id],
    queryFn: ({ signal }) => get(`${at(id)}/draft`, {}, signal) as Promise<Editable>,
  });
}

export function useVersions(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "flows", id, "versions"],
    queryFn: async ({ signal }) => (await get(`${at(id)}/versions`, {}, signal)).data,
  });
}

export function useVersion(id: string, n: number) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "flows", id, "versions", n],
    enabled: n > 0,
    staleTime: Infinity,
    queryFn: ({ signal }) => get(`${at(id)}/versions/${String(n)}`, {}, signal) as Promise<Version>,
  });
}

export function useTemplates() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "templates"],
    staleTime: 60_000,
    queryFn: async ({ signal }) => (await get("/templates", {}, signal)).data,
  });
}

/** useFlowChanges adds, saves, publishes and removes flows. */
export function useFlowChanges() {
  const company = useCompany();
  const client = useQueryClient();
  const kept = useCallback(
    (e: Editable) => {
      client.setQueryData([company.id, "flows", e.id], e);
      void client.invalidateQueries({ queryKey: [company.id, "flows"], exact: true });
      void client.invalidateQueries({ queryKey: [company.id, "flows", e.id, "versions"] });
      return e;
    },
    [client, company.id],
  );
  return {
    begin: useCallback(async (flow: Flow) => kept((await post("/flows/drafts", { flow })) as Editable), [kept]),
    save: useCallback(
      async (id: string, flow: Flow, savedAt: string | null) =>
        kept((await put(`${at(id)}/draft`, { flow, ...(savedAt ? { saved_at: savedAt } : {}) })) as Editable),
      [kept],
    ),
    publish: useCallback(async (id: string) => kept((await post(`${at(id)}/publish`)) as Editable), [kept]),
    /** drop discards the draft; reports whether anything is left of the flow. */
    drop: useCallback(
      async (id: string) => {
        await del(`${at(id)}/draft`);
        kept((await get(`${at(id)}/draft`)) as Editable);
      },
      [kept],
    ),
    remove: useCallback(
      async (e: Editable) => {
        await (e.published ? del(at(e.id)) : del(`${at(e.id)}/draft`));
        client.removeQueries({ queryKey: [company.id, "flows", e.id] });
        await client.invalidateQueries({ queryKey: [company.id, "flows"], exact: true });
      },
      [client, company.id],
    ),
  };
}

/** useFaults is what keeps a flow from being published, and what may be wrong with it, some moments after it was changed. */
export function useFaults(flow: Flow, first: Faults): Faults & { checking: boolean } {
  const company = useCompany();
  const text = JSON.stringify(flow);
  const [asked, ask] = useState(text);
  const [begun] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => ask(text), 350);
    return () => clearTimeout(timer);
  }, [text]);
  const checked = useQuery({
    queryKey: [company.id, "flow-faults", asked],
    placeholderData: keepPreviousData,
    initialData: asked === begun ? first : undefined,
    staleTime: Infinity,
    gcTime: 0,
    queryFn: ({ signal }) => checkFlow(JSON.parse(asked) as Flow, signal),
  });
  const { faults = [], warnings = [] } = checked.data ?? {};
  return { faults, warnings, checking: asked !== text || checked.isFetching };
}

async function checkFlow(flow: Flow, signal: AbortSignal): Promise<Faults> {
  signal.throwIfAborted();
  return post("/flows/check", { flow });
}

export interface RunFilter {
  flow?: string;
  state?: "failed";
}

const beat = 30_000; // what other nodes of the installation do without a turn is no event here
const settle = 250;

/** RunMark is the data of the event flow_run. */
interface RunMark {
  run_id: string;
  flow_id: string;
  conversation_id: string;
}

/** useChanges has queries made again when something has changed that concerns them. */
function useChanges(key: readonly unknown[], concerns: (run: RunMark | undefined, conversation: string) => boolean) {
  const client = useQueryClient();
  const what = useRef({ key, concerns });
  what.current = { key, concerns };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: what.current.key });
      }, settle);
    };
    const leave = inbox.listen((e) => {
      if (e.event === "reset") again();
      else if (e.event === "flow_run") {
        const run = e.data as RunMark;
        if (what.current.concerns(run, run.conversation_id)) again();
      } else if (e.event === "conversation.updated") {
        if (what.current.concerns(undefined, (e.data as Update).conversation.id)) again();
      }
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [client]);
}

/** useRuns is the runs, the newest first, as they change. */
export function useRuns(f: RunFilter) {
  const company = useCompany();
  const queryKey = [company.id, "flow-runs", f.flow ?? "", f.state ?? ""];
  const shown = useRef(new Set<string>());
  useChanges(queryKey, (run, conversation) =>
    run ? !f.flow || run.flow_id === f.flow : shown.current.has(conversation),
  );
  const list = useInfiniteQuery({
    queryKey,
    refetchInterval: beat,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      get("/flow-runs", { flow: f.flow, state: f.state, cursor: pageParam, limit: 50 }, signal),
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
  shown.current = new Set(list.data?.pages.flatMap((p) => p.data.filter((x) => x.open).map((x) => x.conversation_id)));
  return list;
}

/** useRun is a run, as it changes. */
export function useRun(id: string) {
  const company = useCompany();
  const queryKey = [company.id, "flow-runs", "one", id];
  const run = useQuery<Run>({
    queryKey,
    refetchInterval: (q) => (q.state.data?.open ? beat : false),
    queryFn: ({ signal }) => get(`/flow-runs/${encodeURIComponent(id)}`, {}, signal) as Promise<Run>,
  });
  useChanges(queryKey, (mark, conversation) =>
    mark ? mark.run_id === id : !!run.data?.open && run.data.conversation_id === conversation,
  );
  return run;
}
