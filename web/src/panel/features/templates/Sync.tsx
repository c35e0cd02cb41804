import { Button } from "@mantine/core";
import { IconAlertTriangle, IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Ago } from "../../ui/Ago";
import { failed, succeeded } from "../../ui/problem";
import { texts } from "./texts";
import type { SyncRow } from "./types";
import { useSync, useTemplateChanges } from "./useTemplates";

/** SyncButton asks the channels of all senders for their templates now. */
export function SyncButton() {
  const t = useTexts(texts);
  const { sync } = useTemplateChanges();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      const rows = await sync();
      const changed = rows.reduce((n, r) => n + r.changed, 0);
      if (rows.some((r) => !r.error))
        succeeded(changed === 0 ? t.syncedNone : changed === 1 ? t.syncedOne : fill(t.syncedMany, { n: changed }));
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button variant="default" leftSection={<IconRefresh size={16} />} loading={busy} onClick={() => void run()}>
      {t.sync}
    </Button>
  );
}

/** LastSync says when templates were last compared with the channels, and with which senders that failed. */
export function LastSync() {
  const t = useTexts(texts);
  const can = useCan()("templates:write");
  const rows = useSync().data ?? [];
  const done = rows.filter((r) => !r.error),
    broken = rows.filter((r) => r.error);
  const missing = done.reduce((n, r) => n + r.missing, 0);
  if (rows.length === 0) return can ? <p className="templates-sync muted small">{t.neverSynced}</p> : null;
  return (
    <div className="templates-sync small" role="status">
      {done.length > 0 && (
        <p className="muted">
          {t.syncedAt} <Ago at={newest(done)} />
          {missing > 0 && <> · {missing === 1 ? t.missingOne : fill(t.missingMany, { n: missing })}</>}
        </p>
      )}
      {broken.map((r) => (
        <p key={r.sender} className="templates-broken">
          <IconAlertTriangle size={14} aria-hidden="true" />
          <span>
            {fill(t.syncFailed, { sender: r.sender })} <Ago at={r.at} />: {r.error}
          </span>
        </p>
      ))}
    </div>
  );
}

const newest = (rows: SyncRow[]): string => rows.reduce((at, r) => (r.at > at ? r.at : at), "");
