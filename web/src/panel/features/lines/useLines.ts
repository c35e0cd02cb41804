// Voice lines: the list with their state, and one with its settings.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { del, get, post, put } from "../../api";
import { useCompany } from "../../session";
import type { Health, Sender, VoiceLine } from "./types";

/** useLines is all lines, with the state of now; it is asked again every so often while it is shown. */
export function useLines(every: number | false = 10_000) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "lines"],
    refetchInterval: every,
    queryFn: async ({ signal }) => (await get("/senders", { channel: "voice" }, signal)).data as VoiceLine[],
  });
}

export function useLine(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "lines", id],
    queryFn: ({ signal }) => get(at(id), {}, signal) as Promise<Sender>,
  });
}

const at = (id: string) => `/senders/${encodeURIComponent(id)}` as const;

export function useLineChanges() {
  const company = useCompany();
  const client = useQueryClient();
  const kept = useCallback(
    (x: Sender) => {
      client.setQueryData([company.id, "lines", x.id], x);
      void client.invalidateQueries({ queryKey: [company.id, "lines"], exact: true });
      return x;
    },
    [client, company.id],
  );
  return {
    add: useCallback(async (x: Sender) => kept((await post("/senders", x)) as Sender), [kept]),
    replace: useCallback(
      async ({ breaker: _, secrets: __, callback: ___, ...x }: Sender) => kept((await put(at(x.id!), x)) as Sender),
      [kept],
    ),
    remove: useCallback(
      async (id: string) => {
        await del(at(id));
        client.removeQueries({ queryKey: [company.id, "lines", id] });
        await client.invalidateQueries({ queryKey: [company.id, "lines"], exact: true });
      },
      [client, company.id],
    ),
    check: useCallback(
      async (id: string) => {
        const health = (await post(`${at(id)}/check`)) as Health;
        client.setQueryData<VoiceLine[]>([company.id, "lines"], (all) =>
          all?.map((l) => (l.id === id ? { ...l, line: { ...l.line, health } } : l)),
        );
      },
      [client, company.id],
    ),
  };
}
