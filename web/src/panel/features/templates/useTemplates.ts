import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { del, get, post, send } from "../../api";
import { useCompany } from "../../session";
import { payloadOf, type Form } from "./form";
import type { TemplateRow } from "./types";

// The channel decides by itself: while it may, the pages ask every so often.
const soon = 2000;
const later = 30_000;

const waits = (t: TemplateRow): boolean => t.status === "pending";

/** useTemplates is all templates of the company, as their channels decide on them. */
export function useTemplates() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "templates"],
    queryFn: async ({ signal }) => (await get("/templates", {}, signal)).data,
    refetchInterval: (q) => (q.state.data?.some(waits) ? soon : later),
  });
}

/** useTemplate is one template. */
export function useTemplate(id: string) {
  const company = useCompany();
  const client = useQueryClient();
  return useQuery<TemplateRow>({
    queryKey: [company.id, "templates", id],
    queryFn: async ({ signal }) => {
      const one = await get(`/templates/${encodeURIComponent(id)}`, {}, signal);
      client.setQueryData<TemplateRow[]>([company.id, "templates"], (all) => all?.map((t) => (t.id === id ? one : t)));
      return one;
    },
    refetchInterval: (q) => (!q.state.data ? false : waits(q.state.data) ? soon : later),
    placeholderData: () => client.getQueryData<TemplateRow[]>([company.id, "templates"])?.find((t) => t.id === id),
  });
}

/** useHistory is what happened to a template; version is which state of it, so that it is read again after a change. */
export function useHistory(id: string, version: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "templates", id, "history", version],
    queryFn: async ({ signal }) => (await get(`/templates/${encodeURIComponent(id)}/history`, {}, signal)).data,
    placeholderData: (before) => before,
  });
}

/** useStatistics is the channel's own figures of a template. */
export function useStatistics(id: string, asked: boolean) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "template-statistics", id],
    queryFn: ({ signal }) => get(`/templates/${encodeURIComponent(id)}/statistics`, {}, signal),
    enabled: asked,
    staleTime: 5 * 60_000, // the channel counts by day
    retry: false,
  });
}

/** useCounting turns the channel's figures on. */
export function useCounting(id: string) {
  const company = useCompany();
  const client = useQueryClient();
  return useCallback(async () => {
    await post(`/templates/${encodeURIComponent(id)}/statistics`);
    await client.invalidateQueries({ queryKey: [company.id, "template-statistics"] });
  }, [client, company.id, id]);
}

/** useSync is when each sender's templates were last compared with those of its channel. */
export function useSync() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "templates-sync"],
    queryFn: async ({ signal }) => (await get("/templates/sync", {}, signal)).data,
  });
}

/** useMessagingSenders is the senders that templates belong to. */
export function useMessagingSenders() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "senders", "messaging"],
    queryFn: async ({ signal }) => (await get("/senders", { channel: "messaging" }, signal)).data,
  });
}

/** useTemplateChanges writes templates. */
export function useTemplateChanges() {
  const company = useCompany();
  const client = useQueryClient();
  const kept = useCallback(
    (t: TemplateRow) => {
      client.setQueryData([company.id, "templates", t.id], t);
      client.setQueryData<TemplateRow[]>(
        [company.id, "templates"],
        (all) => all && [...all.filter((x) => x.id !== t.id), t],
      );
      void client.invalidateQueries({ queryKey: [company.id, "templates"], exact: true });
      return t;
    },
    [client, company.id],
  );
  return {
    create: useCallback(
      async (f: Form, submit: boolean) =>
        kept(await send("post", "/templates", { query: { sender: f.sender }, body: { ...payloadOf(f), submit } })),
      [kept],
    ),
    edit: useCallback(
      async (t: TemplateRow, f: Form, submit: boolean) => {
        const { name, language, ...rest } = payloadOf(f);
        const free = t.status === "draft" && !t.provider_id; // name and language are fixed once the channel has had them
        return kept(
          await send("patch", `/templates/${t.id}`, {
            query: { version: t.version },
            body: { ...rest, ...(free ? { name, language } : {}), submit },
          }),
        );
      },
      [kept],
    ),
    submit: useCallback(async (id: string) => kept(await post(`/templates/${id}/submit`)), [kept]),
    review: useCallback(
      async (id: string, approve: boolean, reason: string) => {
        await post(`/templates/${id}/review`, { approve, reason });
        await client.invalidateQueries({ queryKey: [company.id, "templates"] });
      },
      [client, company.id],
    ),
    remove: useCallback(
      async (id: string) => {
        await del(`/templates/${id}`);
        client.setQueryData<TemplateRow[]>([company.id, "templates"], (all) => all?.filter((x) => x.id !== id));
        client.removeQueries({ queryKey: [company.id, "templates", id] });
      },
      [client, company.id],
    ),
    sync: useCallback(async () => {
      const { data } = await post("/templates/sync");
      client.setQueryData([company.id, "templates-sync"], data);
      await client.invalidateQueries({ queryKey: [company.id, "templates"] });
      return data;
    }, [client, company.id]),
  };
}
