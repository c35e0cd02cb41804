import { useQuery } from "@tanstack/react-query";
import { get } from "../../api";
import { useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import type { Filter } from "../../ui/list/FilterBar";
import { isUserID, numberIn, phone } from "../../ui/number";
import type { Address } from "./address";
import { texts } from "./texts";
import { kinds, stateFilters } from "./types";

/** useFilters are what the list is narrowed by; the address holds the values. */
export function useFilters(a: Address, go: (to: Partial<Address>) => void): Filter[] {
  const t = useTexts(texts);
  const can = useCan();
  const company = useCompany();
  const senders =
    useQuery({
      queryKey: [company.id, "senders"],
      queryFn: ({ signal }) => get("/senders", {}, signal),
      enabled: can("senders:read"),
    }).data?.data ?? [];
  const filter = (id: keyof Address & keyof typeof t, more: Partial<Filter>): Filter => ({
    id,
    label: t[id],
    value: a[id],
    change: (v) => go({ [id]: v }),
    ...more,
  });
  return [
    filter("state", { options: stateFilters.map((s) => ({ value: s, label: t[`is_${s}`] })) }),
    filter("channel", { options: (["messaging", "voice"] as const).map((s) => ({ value: s, label: t[s] })) }),
    filter("type", { options: kinds.map((s) => ({ value: s, label: t[s] })) }),
    ...(senders.length > 0 || a.sender
      ? [filter("sender", { options: senders.map((s) => ({ value: s.id, label: s.id })) })]
      : []),
    filter("campaign", {}),
    filter("number", {
      type: "tel",
      fits: (v) => numberIn(v) !== "" || isUserID(v),
      shown: a.number && (isUserID(a.number) ? a.number : phone(a.number)),
    }),
  ];
}
