import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../../api";
import { useCompany } from "../../session";
import { useNow } from "../../ui/Ago";
import { queryOf, spanOf, type Address } from "./address";

// They are also asked for when somebody comes back to the page, who may just have done what it asks for (staleTime).
const beat = 10_000;

/** useOverview is the figures of a range, asked for again every ten seconds. */
export function useOverview(address: Address) {
  const company = useCompany();
  const hour = Math.floor(useNow() / 3_600_000); // the range moves on with it
  const text = JSON.stringify(address);
  const span = useMemo(
    () => spanOf(JSON.parse(text) as Address, new Date(Math.max(hour * 3_600_000, Date.now()))),
    [text, hour],
  );
  const query = queryOf(address, span);
  const one = useQuery({
    queryKey: [company.id, "overview", query],
    queryFn: async ({ signal }) => ({ span, address, shown: await get("/overview", query, signal) }),
    refetchInterval: beat,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
  return one;
}

export function useAttention() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "attention"],
    queryFn: ({ signal }) => get("/overview/attention", {}, signal),
    refetchInterval: beat,
    staleTime: 0,
  });
}

export function useFirstSteps(wanted: boolean) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "first-steps"],
    enabled: wanted,
    queryFn: ({ signal }) => get("/overview/first-steps", {}, signal),
    refetchInterval: (q) => (q.state.data?.data.every((s) => s.done) ? false : beat),
    staleTime: 0,
  });
}
