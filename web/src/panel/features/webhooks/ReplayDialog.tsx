import { Button, Group, Modal, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Note } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Several } from "../../ui/Several";
import { pageTexts } from "./texts";
import { types, type Webhook } from "./types";
import { useChanges, useStatus } from "./useWebhooks";

/** ReplayDialog sends events again: those given up, or those of a time, and says how many. */
export function ReplayDialog({ webhook: w, opened, close }: { webhook: Webhook; opened: boolean; close: () => void }) {
  const t = useTexts(pageTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const { replay } = useChanges();
  const given = useStatus(w.id!).data?.failed ?? 0;
  const wanted = w.events.includes("*") ? types : w.events;
  const [which, setWhich] = useState("range");
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [kinds, setKinds] = useState<string[]>([]);
  const [missing, setMissing] = useState(false);
  const [done, setDone] = useState<{ replayed: number; more: boolean } | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (opened) setWhich(given > 0 ? "failed" : "range");
  }, [opened]);
  const instant = (local: string) => (local ? new Date(local).toISOString() : undefined);
  const go = async () => {
    if (which === "range" && !from) {
      setMissing(true);
      return;
    }
    setBusy(true);
    setDone(null);
    try {
      const some = kinds.length ? kinds : wanted.length < types.length ? wanted : undefined;
      setDone(
        await replay(
          w.id!,
          which === "failed" ? { failed: true } : { from: instant(from), to: instant(to), types: some },
        ),
      );
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const count =
    done &&
    (done.replayed === 0
      ? t.replayedNone
      : done.replayed === 1
        ? t.replayedOne
        : fill(t.replayed, { n: number(done.replayed, language) }));
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={() => {
        setDone(null);
        setMissing(false);
      }}
      title={t.replay}
      closeButtonProps={{ "aria-label": s.close }}
      size={600}
    >
      <Stack>
        <p style={{ margin: 0 }}>
          {t.replayText} {t.keptFor}.
        </p>
        <SegmentedControl
          fullWidth
          aria-label={t.which}
          value={which}
          onChange={(v) => {
            setWhich(v);
            setDone(null);
          }}
          data={[
            { value: "failed", label: fill(t.givenUp, { n: number(given, language) }), disabled: given === 0 },
            { value: "range", label: t.range },
          ]}
        />
        {which === "range" && (
          <>
            <div className="pair">
              <TextInput
                type="datetime-local"
                label={t.from}
                value={from}
                error={missing && !from && t.needFrom}
                onChange={(e) => {
                  setFrom(e.currentTarget.value);
                  setDone(null);
                }}
              />
              <TextInput
                type="datetime-local"
                label={`${t.to} (${t.toHelp})`}
                value={to}
                onChange={(e) => {
                  setTo(e.currentTarget.value);
                  setDone(null);
                }}
              />
            </div>
            <Several
              label={t.types}
              description={t.typesHelp}
              searchable
              data={wanted}
              value={kinds}
              onChange={(v) => {
                setKinds(v);
                setDone(null);
              }}
            />
          </>
        )}
        <div role="status">
          {done && (
            <Note tone={done.replayed ? "ok" : undefined}>
              <p>
                {count} {done.more && t.more}
              </p>
            </Note>
          )}
        </div>
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {done ? s.close : s.cancel}
          </Button>
          <Button loading={busy} onClick={() => void go()}>
            {t.replayDo}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
