import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { get, Problem } from "../../api";
import { notifications as stream } from "../../live";
import { useCompany } from "../../session";
import { open } from "./types";

const beat = 3000; // while something waits: that a message is queued or being sent is no event

/** useOne is a notification as it goes on. */
export function useOne(id: string) {
  const company = useCompany();
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: [company.id, "notifications", id], exact: true });
      }, 250);
    };
    const leave = stream.seen((e) => {
      if (
        e.event === "reset" ||
        (e.data as { data?: { notification_id?: string } } | null)?.data?.notification_id === id
      )
        again();
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [client, company.id, id]);
  return useQuery({
    queryKey: [company.id, "notifications", id],
    queryFn: ({ signal }) => get(`/notifications/${encodeURIComponent(id)}`, {}, signal),
    refetchInterval: (q) => (q.state.data && open(q.state.data) ? beat : false),
    retry: (times, e) => times < 2 && !(e instanceof Problem && e.status < 500),
  });
}
