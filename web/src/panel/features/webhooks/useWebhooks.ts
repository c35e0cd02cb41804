// The endpoints of webhooks: the list, one, how delivery to it stands, and what can be done.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { del, everything, get, post, put } from "../../api";
import { useCompany } from "../../session";
import type { Webhook } from "./types";

const at = (id: string) => `/webhooks/${encodeURIComponent(id)}` as const;
const beat = 4_000; // between two looks at what changes by itself, while it is shown

export function useWebhooks() {
  const company = useCompany();
  return useQuery({ queryKey: [company.id, "webhooks"], queryFn: ({ signal }) => everything("/webhooks", {}, signal) });
}

export function useWebhook(id: string) {
  const company = useCompany();
  return useQuery({ queryKey: [company.id, "webhooks", id], queryFn: ({ signal }) => get(at(id), {}, signal) });
}

export function useStatus(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "webhooks", id, "status"],
    refetchInterval: beat,
    queryFn: ({ signal }) => get(`${at(id)}/status`, {}, signal),
  });
}

/** useLastFailure is the latest attempt that failed. */
export function useLastFailure(id: string, wanted: boolean) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "webhooks", id, "last"],
    enabled: wanted,
    refetchInterval: beat,
    queryFn: async ({ signal }) =>
      (await get(`${at(id)}/deliveries`, { succeeded: "false", limit: 1 }, signal)).data[0] ?? null,
  });
}

/** useLastTest is the latest attempt: a test, where nothing else was sent yet. */
export function useLastTest(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "webhooks", id, "test"],
    refetchInterval: beat,
    queryFn: async ({ signal }) => (await get(`${at(id)}/deliveries`, { limit: 1 }, signal)).data[0] ?? null,
  });
}

/** useEvent is an event with all that was sent of it; nothing while id is empty. */
export function useEvent(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "webhook-events", id],
    enabled: id !== "",
    retry: false,
    queryFn: ({ signal }) => get(`/webhook-events/${encodeURIComponent(id)}`, {}, signal),
  });
}

export interface Replay {
  event_id?: string;
  failed?: boolean;
  from?: string;
  to?: string;
  types?: string[];
}

export function useChanges() {
  const company = useCompany();
  const client = useQueryClient();
  const again = useCallback(
    (id: string) => void client.invalidateQueries({ queryKey: [company.id, "webhooks", id] }),
    [client, company.id],
  );
  const kept = useCallback(
    ({ secret: _, ...x }: Webhook) => {
      // a secret that was made is shown once, and stays nowhere
      client.setQueryData([company.id, "webhooks", x.id], x);
      void client.invalidateQueries({ queryKey: [company.id, "webhooks"], exact: true });
      void client.invalidateQueries({ queryKey: [company.id, "webhooks", x.id, "status"] });
      return x;
    },
    [client, company.id],
  );
  return useMemo(
    () => ({
      add: async (x: Webhook) => {
        const made = await post("/webhooks", x);
        kept(made);
        return made;
      },
      replace: async ({ warning: _, ...x }: Webhook) => kept(await put(at(x.id!), x)),
      remove: async (id: string) => {
        await del(at(id));
        client.removeQueries({ queryKey: [company.id, "webhooks", id] });
        await client.invalidateQueries({ queryKey: [company.id, "webhooks"], exact: true });
      },
      enable: async (id: string, skip: boolean) => {
        await post(`${at(id)}/enable`, { skip_waiting: skip });
        again(id);
      },
      test: async (id: string, type: string) => {
        const a = await post(`${at(id)}/test`, { type });
        again(id);
        return a;
      },
      rotate: async (id: string, hours: number) => {
        const made = await post(`${at(id)}/rotate`, { keep_hours: hours });
        kept(made);
        return made;
      },
      replay: async (id: string, x: Replay) => {
        const done = await post(`${at(id)}/replay`, x);
        again(id);
        return done;
      },
    }),
    [again, client, company.id, kept],
  );
}
