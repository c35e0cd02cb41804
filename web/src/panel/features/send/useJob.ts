import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState, type ReactNode } from "react";
import { get, patch, post, Problem, type Page, type Takes } from "../../api";
import { useCompany } from "../../session";
import { failed, why } from "../../ui/problem";
import type { Job, JobRow, JobState, Settings, Value } from "./types";

export const moving: JobState[] = ["checking", "sending", "canceling"];

/** useJobs are the jobs of the company as they go on, the newest first. */
export function useJobs() {
  const company = useCompany();
  return useInfiniteQuery({
    queryKey: [company.id, "send", "jobs"],
    initialPageParam: "",
    getNextPageParam: (p: Page<JobRow>) => p.next_cursor ?? undefined,
    select: (x) => x.pages.flatMap((p) => p.data),
    queryFn: ({ pageParam, signal }) => get("/send/jobs", { limit: 25, cursor: pageParam }, signal),
    refetchInterval: (q) =>
      q.state.data?.pages.some((p) => p.data.some((j) => moving.includes(j.state))) ? 2000 : 15_000,
  });
}

/** useJob is a job as it goes on, and what can be done with it. */
export function useJob(id: string) {
  const company = useCompany();
  const client = useQueryClient();
  const key = [company.id, "send", "jobs", id];
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => get(`/send/jobs/${id}`, {}, signal),
    refetchInterval: (q) => (q.state.data && moving.includes(q.state.data.state) ? 1000 : 10_000),
    staleTime: 0,
  });
  const kept = useCallback(
    (j: Job) => {
      client.setQueryData([company.id, "send", "jobs", id], j);
      void client.invalidateQueries({ queryKey: [company.id, "send", "jobs"], exact: true });
      return j;
    },
    [client, company.id, id],
  );
  const act = useCallback(
    async <W extends keyof Deeds>(what: W, body?: Deeds[W]) =>
      kept(await post(`/send/jobs/${id}/${what as "send"}`, body as Deeds["send"])),
    [id, kept],
  );
  return { query, kept, act, reload: () => client.invalidateQueries({ queryKey: key, exact: true }) };
}

/** Deeds are the changes of a job's state, with the bodies of their requests. */
type Deeds = { [W in "check" | "send" | "pause" | "resume" | "cancel"]: Takes<"post", `/send/jobs/${string}/${W}`> };

export interface Edit {
  number?: number;
  fields?: Record<string, number>;
  values?: Record<string, Value>;
  template?: string;
  language?: string;
  sender?: string;
  campaign?: string;
  type?: string;
  event?: string;
  datetime_sending?: string;
  timezone?: string;
}

const pause = 500; // of typing

/** useEdits are the settings of a job with what was just changed of them, which is stored on the server as the typing pauses. */
export function useEdits(job: Job, kept: (j: Job) => Job, reload: () => unknown) {
  const [edits, set] = useState<Edit>({});
  const [fault, setFault] = useState<{ field: string; text: ReactNode }>();
  const waiting = useRef<Edit>({});
  const version = useRef(job.settings.version);
  version.current = Math.max(version.current, job.settings.version);
  const running = useRef<Promise<boolean>>(Promise.resolve(true));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const store = useCallback((): Promise<boolean> => {
    clearTimeout(timer.current);
    running.current = running.current.then(async () => {
      const now = waiting.current;
      if (Object.keys(now).length === 0) return true;
      waiting.current = {};
      try {
        const j = await patch(`/send/jobs/${job.id}`, { version: version.current, ...now });
        version.current = j.settings.version;
        kept(j);
        set((all) => Object.fromEntries(Object.entries(all).filter(([k]) => k in waiting.current)));
        return true;
      } catch (e) {
        if (!(e instanceof Problem && e.status === 409)) waiting.current = { ...now, ...waiting.current }; // what is shown is stored before it is used
        if (e instanceof Problem && e.status === 400) setFault({ field: e.field, text: why(e) });
        else {
          failed(e);
          if (e instanceof Problem && e.status === 409) set({});
          void reload();
        }
        return false;
      }
    });
    return running.current;
  }, [job.id, kept, reload]);
  const edit = useCallback(
    (to: Edit, at = pause) => {
      waiting.current = { ...waiting.current, ...to };
      set((all) => ({ ...all, ...to }));
      setFault(undefined);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void store(), at);
    },
    [store],
  );
  useEffect(
    () => () => {
      void store();
    },
    [store],
  );
  const settings = { ...job.settings, ...edits } as Settings;
  return { settings, edit, store, fault, setFault };
}
