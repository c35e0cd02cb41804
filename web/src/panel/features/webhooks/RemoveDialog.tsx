import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { fill, useTexts } from "../../i18n";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { pageTexts } from "./texts";
import { hostOf, type Webhook } from "./types";
import { useChanges } from "./useWebhooks";

/** RemoveDialog deletes an endpoint once its host is typed. */
export function RemoveDialog({
  webhook: w,
  opened,
  close,
  removed,
}: {
  webhook: Webhook;
  opened: boolean;
  close: () => void;
  removed: () => void;
}) {
  const t = useTexts(pageTexts);
  const s = useTexts(shared);
  const { remove } = useChanges();
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const host = hostOf(w.url);
  const go = async (e: FormEvent) => {
    e.preventDefault();
    if (typed.trim() !== host) return;
    setBusy(true);
    try {
      await remove(w.id!);
      succeeded(t.removed);
      removed();
    } catch (e) {
      failed(e);
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={() => setTyped("")}
      title={t.removeTitle}
      closeButtonProps={{ "aria-label": s.close }}
      size={460}
    >
      <form onSubmit={(e) => void go(e)}>
        <Stack>
          <p style={{ margin: 0 }}>{t.removeText}</p>
          <TextInput
            data-autofocus
            label={fill(t.typeHost, { host })}
            value={typed}
            autoComplete="off"
            spellCheck={false}
            onChange={(e) => setTyped(e.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" color="red" loading={busy} disabled={typed.trim() !== host}>
              {t.remove}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
