import { Button } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Card, Rows } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { checkTexts } from "./texts";
import { Findings } from "./Findings";
import type { Report } from "./types";
import { useSenderChanges } from "./useSenders";

/** CheckCard asks Meta about a sender and shows what was found last. at_once asks when it is opened. */
export function CheckCard({
  id,
  waba,
  report,
  atOnce,
}: {
  id: string;
  waba?: string;
  report: Report | undefined;
  atOnce?: boolean;
}) {
  const t = useTexts(checkTexts);
  const can = useCan()("senders:write");
  const { check, subscribe } = useSenderChanges();
  const [busy, setBusy] = useState(false);
  const asked = useRef(false);
  const run = async (before?: () => Promise<unknown>) => {
    setBusy(true);
    try {
      if (before) {
        await before();
        succeeded(t.subscribed_done);
      }
      await check(id);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    if (!atOnce || asked.current || !can) return;
    asked.current = true;
    void run();
  }, [atOnce, can]);
  return (
    <Card
      title={t.title}
      actions={
        can && (
          <Button
            variant="default"
            size="compact-sm"
            loading={busy}
            leftSection={<IconRefresh size={14} />}
            onClick={() => void run()}
          >
            {t.check}
          </Button>
        )
      }
    >
      {!report ? (
        <Rows n={2} />
      ) : report.checked_at ? (
        <Findings
          report={report}
          waba={waba}
          busy={busy}
          subscribe={can ? () => void run(() => subscribe(id)) : undefined}
        />
      ) : (
        <p className="muted flat" role="status">
          {busy ? t.asking : t.none}
        </p>
      )}
    </Card>
  );
}
