import { useQuery } from "@tanstack/react-query";
import { get } from "../api";
import { useCan, useCompany } from "../session";

/** useSenderName is the name that phones show of a sender: the one that its channel has approved, else the company's. */
export function useSenderName(): (id: string | undefined) => string {
  const company = useCompany();
  const senders = useQuery({
    queryKey: [company.id, "senders"],
    queryFn: ({ signal }) => get("/senders", {}, signal),
    enabled: useCan()("senders:read"),
  }).data?.data;
  return (id) => senders?.find((s) => s.id === id)?.report?.name || company.name;
}
