import { Button, Group, Modal, SegmentedControl, Stack } from "@mantine/core";
import { useState } from "react";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Note, Snippet } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { formTexts, pageTexts } from "./texts";
import type { Webhook } from "./types";
import { useChanges } from "./useWebhooks";

/** RotateDialog makes another secret, which it shows once. */
export function RotateDialog({ id, opened, close }: { id: string; opened: boolean; close: () => void }) {
  const t = useTexts(pageTexts);
  const f = useTexts(formTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const { rotate } = useChanges();
  const [hours, setHours] = useState("24");
  const [made, setMade] = useState<Webhook | null>(null);
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      setMade(await rotate(id, Number(hours)));
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
      onExitTransitionEnd={() => setMade(null)}
      title={made ? t.rotated : t.rotate}
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      closeButtonProps={{ "aria-label": s.close }}
      size={520}
    >
      {made ? (
        <Stack>
          <Note tone="warn">
            <p>
              {f.madeText}{" "}
              {hours !== "0" &&
                made.previous_secret_until &&
                fill(t.both, { time: absolute(made.previous_secret_until, language) })}
            </p>
          </Note>
          <Snippet code={made.secret ?? ""} label={f.copySecret} />
          <Group justify="flex-end">
            <Button onClick={close}>{f.done}</Button>
          </Group>
        </Stack>
      ) : (
        <Stack>
          <p style={{ margin: 0 }}>{t.rotateText}</p>
          <div>
            <div id="keep-label" className="field-label">
              {t.keep}
            </div>
            <SegmentedControl
              fullWidth
              aria-labelledby="keep-label"
              value={hours}
              onChange={setHours}
              data={[
                { value: "0", label: t.keep0 },
                { value: "24", label: t.keep24 },
                { value: "72", label: t.keep72 },
                { value: "168", label: t.keep168 },
              ]}
            />
          </div>
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button loading={busy} onClick={() => void go()}>
              {t.rotateDo}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
