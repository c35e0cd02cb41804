import { useTexts } from "../../i18n";
import type { Filter } from "../../ui/list/FilterBar";
import { numberIn, phone } from "../../ui/number";
import { groups, type Address, type Group } from "./address";
import { useNames } from "./names";
import { texts } from "./texts";
import { callStates, incomingStates } from "./types";

/** useFilters are what the list is narrowed by; the address holds the values. */
export function useFilters(a: Address, go: (to: Partial<Record<keyof Address, string | undefined>>) => void): Filter[] {
  const t = useTexts(texts);
  const { agents, lines } = useNames();
  const incoming = a.direction === "incoming";
  const together: Group[] = incoming ? ["under_way"] : (Object.keys(groups) as Group[]);
  const filter = (id: keyof Address & keyof typeof t, more: Partial<Filter>): Filter => ({
    id,
    label: t[id],
    value: a[id],
    change: (v) => go({ [id]: v }),
    ...more,
  });
  return [
    filter("state", {
      options: [
        ...together.map((g) => ({ value: g, label: t[g], group: t.groups })),
        ...(incoming ? incomingStates : callStates).map((s) => ({ value: s, label: t[s], group: t.single })),
      ],
    }),
    filter("agent", { options: agents.map((x) => ({ value: x.id, label: x.name })) }),
    filter("line", { options: lines.map((x) => ({ value: x.id, label: x.id })) }),
    filter("number", { type: "tel", fits: (v) => numberIn(v) !== "", shown: a.number && phone(a.number) }),
    ...(incoming ? [] : [filter("campaign", {})]),
  ];
}
