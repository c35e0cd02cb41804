import { useCallback } from "react";
import { useList } from "../../ui/resources";
import { summary } from "./model";
import type { Step } from "./types";

/** useNames makes summaries of steps that say names where the steps have ids. */
export function useNames(): (s: Step) => string {
  const agents = useList("agents").data;
  return useCallback(
    (s: Step) =>
      s.place_call ? (agents?.find((a) => a.id === s.place_call!.agent)?.name ?? s.place_call.agent) : summary(s),
    [agents],
  );
}
