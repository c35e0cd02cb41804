// Messaging senders: the list, one with its settings and its state, and what changes them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { del, get, post, put } from "../../api";
import { useCompany } from "../../session";
import type {
  Calls,
  CallsRequest,
  MessagingSender,
  NewSender,
  Report,
  SenderRow,
  SenderState,
  SignUpRequest,
} from "./types";

const at = (id: string) => `/senders/${encodeURIComponent(id)}` as const;

/** useSenders is all messaging senders, with the state of now. */
export function useSenders() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "messaging"],
    refetchInterval: 15_000,
    queryFn: async ({ signal }) => (await get("/senders", { channel: "messaging" }, signal)).data as SenderRow[],
  });
}

export function useSender(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "messaging", id],
    queryFn: ({ signal }) => get(at(id), {}, signal) as Promise<MessagingSender>,
  });
}

/** useSenderState is how a sender is; it is asked again every so often while it is shown. */
export function useSenderState(id: string, every = 5_000) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "messaging", id, "state"],
    refetchInterval: every,
    queryFn: ({ signal }) => get(`${at(id)}/state`, {}, signal),
  });
}

/** useCalls is the settings of a sender for calls. */
export function useCalls(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "messaging", id, "calls"],
    queryFn: ({ signal }) => get(`${at(id)}/calls`, {}, signal),
  });
}

/** useSignUp is what Facebook's dialog needs, for those who may connect numbers. */
export function useSignUp() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "sender-sign-up"],
    queryFn: ({ signal }) => get("/sender-sign-up", {}, signal),
  });
}

/** checkNew asks about a sender that is not stored. */
export const checkNew = (x: NewSender): Promise<Report> => post("/senders/check", x);

export function useSenderChanges() {
  const company = useCompany();
  const client = useQueryClient();
  const lists = useCallback(
    () =>
      Promise.all([
        client.invalidateQueries({ queryKey: [company.id, "messaging"], exact: true }),
        client.invalidateQueries({ queryKey: [company.id, "senders"] }),
      ]),
    [client, company.id],
  );
  const kept = useCallback(
    (x: MessagingSender) => {
      client.setQueryData([company.id, "messaging", x.id], x);
      void lists();
      return x;
    },
    [client, company.id, lists],
  );
  return {
    add: useCallback(async (x: NewSender) => kept((await post("/senders", x)) as MessagingSender), [kept]),
    signUp: useCallback(
      async (x: SignUpRequest) => kept((await post("/sender-sign-up", x)) as MessagingSender),
      [kept],
    ),
    replace: useCallback(
      async ({ breaker: _, secrets: __, callback: ___, ...x }: MessagingSender) =>
        kept((await put(at(x.id), x)) as MessagingSender),
      [kept],
    ),
    remove: useCallback(
      async (id: string) => {
        await del(at(id));
        client.removeQueries({ queryKey: [company.id, "messaging", id] });
        await lists();
      },
      [client, company.id, lists],
    ),
    check: useCallback(
      async (id: string) => {
        const report = (await post(`${at(id)}/check`)) as Report;
        client.setQueryData<SenderState>([company.id, "messaging", id, "state"], (s) => s && { ...s, report });
        void lists();
        return report;
      },
      [client, company.id, lists],
    ),
    setCalls: useCallback(
      async (id: string, x: CallsRequest) => {
        const kept: Calls = await put(`${at(id)}/calls`, x);
        client.setQueryData([company.id, "messaging", id, "calls"], kept);
        void lists();
      },
      [client, company.id, lists],
    ),
    subscribe: useCallback((id: string) => post(`${at(id)}/subscribe`), []),
    register: useCallback((id: string, pin: string) => post(`${at(id)}/register`, { pin }), []),
    setPIN: useCallback((id: string, pin: string) => put(`${at(id)}/pin`, { pin }), []),
    askHistory: useCallback(
      async (id: string, contacts: boolean) => {
        const history = await post(`${at(id)}/history`, { contacts });
        client.setQueryData<SenderState>([company.id, "messaging", id, "state"], (s) => s && { ...s, history });
      },
      [client, company.id],
    ),
  };
}
