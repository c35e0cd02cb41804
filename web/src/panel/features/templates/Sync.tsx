import { Button } from "@mantine/core";
import { IconAlertTriangle, IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Ago } from "../../ui/Ago";
import { failed, succeeded } from "../../ui/problem";
import { Told } from "../../ui/Told";
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
      if (rows.some((r) => !r.error)) succeeded(cameOf(t, rows));
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

type Texts = Record<"syncNew" | "syncChanged" | "syncGone" | "syncUnsupported" | "syncedNone", string>;

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
            {fill(t.syncFailed, { sender: r.sender })} <Ago at={r.at} />: <Told text={r.error!} />
          </span>
        </p>
      ))}
    </div>
  );
}

/** cameOf says in words what came of a comparison, such as "12 new, 3 changed". */
export function cameOf(t: Texts, rows: SyncRow[]): string {
  const sum = (of: (r: SyncRow) => number) => rows.reduce((n, r) => n + of(r), 0);
  const parts = [
    [t.syncNew, sum((r) => r.imported)],
    [t.syncChanged, sum((r) => r.changed)],
    [t.syncGone, sum((r) => r.gone)],
  ] as const;
  const said = parts.filter(([, n]) => n > 0).map(([text, n]) => fill(text, { n }));
  const unsupported = sum((r) => r.unsupported);
  if (said.length === 0) said.push(t.syncedNone);
  if (unsupported > 0) said.push(fill(t.syncUnsupported, { n: unsupported }));
  return said.join(", ");
}

const newest = (rows: SyncRow[]): string => rows.reduce((at, r) => (r.at > at ? r.at : at), "");
