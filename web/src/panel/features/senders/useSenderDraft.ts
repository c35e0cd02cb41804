import { useCallback } from "react";
import { useDraft, type Draft } from "../../ui/draft";
import { numberIn } from "../../ui/number";
import { sent } from "./fields";
import type { MessagingSender } from "./types";
import { useSenderChanges } from "./useSenders";
import { remember } from "./verify";

/** useSenderDraft changes a stored sender. */
export function useSenderDraft(stored: MessagingSender): Draft<MessagingSender> {
  const { replace } = useSenderChanges();
  const send = useCallback(
    async (x: MessagingSender) => {
      const kept = await replace({
        ...x,
        number: numberIn(x.number) || x.number.trim(),
        settings: sent(x.settings, stored.settings),
      });
      if (x.settings.verify_token) remember(kept.id, x.settings.verify_token);
      return kept;
    },
    [replace, stored.settings],
  );
  return useDraft(stored, send);
}
