import { useCallback } from "react";
import { useTexts } from "../../i18n";
import { useList } from "../../ui/resources";
import { said } from "./condition";
import { summary } from "./model";
import { conditionTexts } from "./texts";
import type { Step } from "./types";

/** useNames makes summaries of steps that say names where the steps have ids, and conditions in words. */
export function useNames(): (s: Step) => string {
  const agents = useList("agents").data;
  const c = useTexts(conditionTexts);
  return useCallback(
    (s: Step) => {
      if (s.place_call) return agents?.find((a) => a.id === s.place_call!.agent)?.name ?? s.place_call.agent;
      return s.if ? said(s.if, c) : summary(s);
    },
    [agents, c],
  );
}
