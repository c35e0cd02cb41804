import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { useLanguage, useTexts } from "../../i18n";
import type { Agent, Widget } from "../../types";
import { LanguageField } from "../../ui/LanguageField";
import { failed, fieldErrors } from "../../ui/problem";
import { useChanges } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { texts } from "./texts";

/** AddWidget makes a chat widget, which is designed afterwards. */
export function AddWidget({ opened, close, agents, made }: { opened: boolean; close: () => void; agents: Agent[]; made: (id: string) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const { add } = useChanges<Widget>("widgets");
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { name: "", agent: "", language: language as string, welcome: "" }, validate: { name: (v) => (v.trim() ? null : s.required), language: (v) => (v ? null : s.required) },
  });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      const w = await add({ ...v, kind: "chat", name: v.name.trim(), agent: v.agent || undefined, appearance: { primary_color: "#2f5bd7", position: "bottom-right" } });
      close();
      made(w.id!);
    } catch (e) {
      if (!fieldErrors(e, form)) failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened={opened} onClose={close} onExitTransitionEnd={form.reset} title={t.create} closeButtonProps={{ "aria-label": s.close }} size={460}>
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        <Stack>
          <TextInput label={t.name} description={t.nameHelp} maxLength={255} data-autofocus {...form.getInputProps("name")} />
          <Select label={t.agent} placeholder={t.noAgent} clearable data={agents.map((a) => ({ value: a.id!, label: a.name }))} {...form.getInputProps("agent")} value={form.values.agent || null} onChange={(v) => form.setFieldValue("agent", v ?? "")} />
          <LanguageField label={t.language} value={form.values.language} onChange={(v) => form.setFieldValue("language", v)} error={form.errors.language as string | undefined} />
          <TextInput label={t.welcome} description={t.welcomeHelp} {...form.getInputProps("welcome")} />
          <Group justify="flex-end"><Button variant="default" onClick={close}>{s.cancel}</Button><Button type="submit" loading={busy}>{t.create}</Button></Group>
        </Stack>
      </form>
    </Modal>
  );
}
