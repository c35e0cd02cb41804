import { Button, Group, Modal, Select, Stack } from "@mantine/core";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { Note } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Exchange, Outcome } from "./Exchange";
import { pageTexts } from "./texts";
import { types, type Attempt, type Webhook } from "./types";
import { useChanges } from "./useWebhooks";

/** TestDialog sends an example, and shows what was sent and responded. */
export function TestDialog({ webhook: w, opened, close }: { webhook: Webhook; opened: boolean; close: () => void }) {
  const t = useTexts(pageTexts);
  const s = useTexts(shared);
  const { test } = useChanges();
  const wanted = w.events.includes("*") ? types : w.events;
  const [type, setType] = useState(wanted.includes("message.delivered") ? "message.delivered" : wanted[0]!);
  const [done, setDone] = useState<Attempt | null>(null);
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    setDone(null);
    try {
      setDone(await test(w.id!, type));
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={() => setDone(null)}
      title={t.test}
      closeButtonProps={{ "aria-label": s.close }}
      size={640}
    >
      <Stack>
        <p style={{ margin: 0 }}>{t.testText}</p>
        <Select
          label={t.type}
          data={types}
          value={type}
          allowDeselect={false}
          searchable
          onChange={(v) => {
            setType(v ?? type);
            setDone(null);
          }}
        />
        {done && (
          <div className="stack" role="status">
            <Note tone={done.succeeded ? "ok" : "danger"}>
              <p>
                <b>{done.succeeded ? t.took : t.refused}</b> · <Outcome attempt={done} />
              </p>
            </Note>
            <Exchange webhook={w} attempt={done} />
          </div>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {done ? s.close : s.cancel}
          </Button>
          <Button data-autofocus loading={busy} onClick={() => void go()}>
            {done ? t.again : t.send}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
