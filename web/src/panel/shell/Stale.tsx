import { Button } from "@mantine/core";
import { notifyManager, useQueryClient, type Query } from "@tanstack/react-query";
import { useCallback, useSyncExternalStore } from "react";
import { useTexts } from "../i18n";
import { Note } from "../ui/parts";
import { useOnline } from "../ui/waiting";
import { texts } from "./texts";

const stale = (q: Query): boolean => q.isActive() && q.state.status === "error" && q.state.data !== undefined;

/**
 * Stale says that there is no network, that the page is still loading, or that something that is shown could not be
 * loaded again. It stays as it was, with what somebody is writing in it.
 */
export function Stale({ slow }: { slow: boolean }) {
  const t = useTexts(texts);
  const online = useOnline();
  const client = useQueryClient();
  const cache = client.getQueryCache();
  const old = useSyncExternalStore(
    useCallback((changed) => cache.subscribe(notifyManager.batchCalls(changed)), [cache]),
    () => cache.getAll().some(stale),
  );
  return (
    <div role="status">
      {!online ? (
        <div className="page" style={{ paddingBottom: 0 }}>
          <Note tone="warn">{t.offline}</Note>
        </div>
      ) : slow ? (
        <div className="page" style={{ paddingBottom: 0 }}>
          <Note>{t.slow}</Note>
        </div>
      ) : null}
      {online && old && (
        <div className="page" style={{ paddingBottom: 0 }}>
          <Note tone="warn">
            <p>{t.stale}</p>
            <Button
              mt={8}
              size="compact-sm"
              variant="default"
              onClick={() => void client.refetchQueries({ predicate: stale })}
            >
              {t.again}
            </Button>
          </Note>
        </div>
      )}
    </div>
  );
}
