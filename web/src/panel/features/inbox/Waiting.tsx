import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { get } from "../../api";
import { inbox } from "../../live";
import { useCompany } from "../../session";

/** Waiting is how many conversations wait for a person, beside the inbox in the navigation. It keeps the stream open, so that whoever
    has the panel open counts as there. */
export function Waiting() {
  const company = useCompany();
  const client = useQueryClient();
  const counts = useQuery({
    queryKey: [company.id, "inbox", "counts"],
    queryFn: ({ signal }) => get("/conversations/counts", {}, signal),
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: [company.id, "inbox", "counts"] });
      }, 400);
    };
    const leave = inbox.listen((e) => {
      if (e.event === "conversation.updated" || e.event === "reset") again();
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [client, company.id]);
  const n = counts.data?.unassigned ?? 0;
  return n > 0 ? <span className="nav-count">{n > 999 ? "999+" : n}</span> : null;
}
