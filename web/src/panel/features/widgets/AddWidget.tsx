import { Button, Group, Modal, Radio, Select, Stack, TextInput } from "@mantine/core";
import "@mantine/core/styles/Radio.css";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { useLanguage, useTexts } from "../../i18n";
import type { Agent } from "../agents/types";
import type { Widget } from "./types";
import { LanguageField } from "../../ui/LanguageField";
import { failed, fieldErrors } from "../../ui/problem";
import { useChanges } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { texts, voiceTexts } from "./texts";

/** AddWidget makes a chat or voice widget, which is designed afterwards. */
export function AddWidget({
  opened,
  close,
  agents,
  made,
}: {
  opened: boolean;
  close: () => void;
  agents: Agent[];
  made: (id: string) => void;
}) {
  const t = useTexts(texts);
  const v = useTexts(voiceTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const { add } = useChanges("widgets");
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { kind: "chat" as Widget["kind"], name: "", agent: "", language: language as string, welcome: "" },
    validate: { name: (x) => (x.trim() ? null : s.required), language: (x) => (x ? null : s.required) },
  });
  const submit = async (values: typeof form.values) => {
    setBusy(true);
    try {
      const w = await add({
        ...values,
        name: values.name.trim(),
        agent: values.agent || undefined,
        appearance: { primary_color: "#2f5bd7", position: "bottom-right" },
      });
      close();
      made(w.id);
    } catch (e) {
      if (!fieldErrors(e, form)) failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={form.reset}
      title={t.create}
      closeButtonProps={{ "aria-label": s.close }}
      size={460}
    >
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack>
          <Radio.Group label={t.kind} {...form.getInputProps("kind")}>
            <Stack gap={10} mt={6}>
              {(["chat", "voice"] as const).map((k) => (
                <Radio key={k} value={k} label={t[k]} description={v[`${k}Help`]} />
              ))}
            </Stack>
          </Radio.Group>
          <TextInput
            label={t.name}
            description={t.nameHelp}
            maxLength={255}
            data-autofocus
            {...form.getInputProps("name")}
          />
          <Select
            label={t.agent}
            placeholder={form.values.kind === "chat" ? t.noAgent : undefined}
            description={form.values.kind === "voice" && !form.values.agent ? v.agentNeeded : undefined}
            clearable
            data={agents.map((a) => ({ value: a.id, label: a.name }))}
            {...form.getInputProps("agent")}
            value={form.values.agent || null}
            onChange={(id) => form.setFieldValue("agent", id ?? "")}
          />
          <LanguageField
            label={t.language}
            value={form.values.language}
            onChange={(tag) => form.setFieldValue("language", tag)}
            error={form.errors.language as string | undefined}
          />
          <TextInput
            label={t.welcome}
            description={form.values.kind === "chat" ? t.welcomeHelp : v.welcomeHelp}
            {...form.getInputProps("welcome")}
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
