import "@mantine/core/styles/Radio.css";
import { Button, Group, Modal, Radio, Stack, TextInput } from "@mantine/core";
import { useState, type FormEvent, type ReactNode } from "react";
import { Problem } from "../../api";
import { useTexts } from "../../i18n";
import { numberIn } from "../../ui/number";
import { failed, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { TransportField } from "./TransportField";
import { compose, type Transport } from "./trunk";
import { texts } from "./texts";
import { useLineChanges } from "./useLines";

const empty = { provider: "sip" as "sip" | "sandbox", number: "", id: "", host: "", transport: "udp" as Transport };

/** AddLine makes a line with what it cannot be without; the rest is chosen on its page. */
export function AddLine({ opened, close, made }: { opened: boolean; close: () => void; made: (id: string) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const { add } = useLineChanges();
  const [v, setV] = useState(empty);
  const [errors, setErrors] = useState<Record<string, ReactNode>>({});
  const [busy, setBusy] = useState(false);
  const set = (more: Partial<typeof empty>) => {
    setV({ ...v, ...more });
    setErrors({});
  };
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    const missing: Record<string, string> = {
      ...(v.number.trim() ? {} : { number: s.required }),
      ...(v.provider === "sip" && !v.host.trim() ? { "settings.trunk": s.required } : {}),
    };
    setErrors(missing);
    if (Object.keys(missing).length) return;
    setBusy(true);
    try {
      const line = await add({
        number: numberIn(v.number) || v.number.trim(),
        channel: "voice",
        provider: v.provider,
        ...(v.id.trim() ? { id: v.id.trim() } : {}),
        settings: v.provider === "sip" ? { trunk: compose(v) } : {},
      });
      close();
      made(line.id!);
    } catch (e) {
      if (e instanceof Problem && ["number", "id", "settings.trunk"].includes(e.field))
        setErrors({ [e.field]: why(e) });
      else if (e instanceof Problem && e.code === "conflict") setErrors({ number: why(e) });
      else failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={() => {
        setV(empty);
        setErrors({});
      }}
      title={t.create}
      closeButtonProps={{ "aria-label": s.close }}
      size={480}
    >
      <form onSubmit={(e) => void submit(e)} noValidate>
        <Stack>
          <Radio.Group
            label={t.kind}
            description={t.kindHelp}
            value={v.provider}
            onChange={(to) => set({ provider: to })}
          >
            <div className="stack" style={{ gap: 12, marginTop: 8 }}>
              <Radio value="sip" label={t.sip} description={t.sipHelp} />
              <Radio value="sandbox" label={t.sandbox} description={t.sandboxHelp} />
            </div>
          </Radio.Group>
          <TextInput
            label={t.number}
            description={t.numberHelp}
            inputMode="numeric"
            autoComplete="off"
            data-autofocus
            value={v.number}
            onChange={(e) => set({ number: e.currentTarget.value })}
            error={errors.number}
          />
          {v.provider === "sip" && (
            <>
              <TextInput
                label={t.address}
                description={t.addressHelp}
                placeholder="sip.example.com"
                spellCheck={false}
                autoComplete="off"
                value={v.host}
                onChange={(e) => set({ host: e.currentTarget.value })}
                error={errors["settings.trunk"]}
              />
              <TransportField value={v.transport} onChange={(transport) => set({ transport })} />
            </>
          )}
          <TextInput
            label={`${t.id} (${s.optional})`}
            description={t.idHelp}
            spellCheck={false}
            autoComplete="off"
            value={v.id}
            onChange={(e) => set({ id: e.currentTarget.value })}
            error={errors.id}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" loading={busy}>
              {t.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
