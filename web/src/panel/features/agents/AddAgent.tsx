import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { useLanguage, useTexts } from "../../i18n";
import { LanguageField } from "../../ui/LanguageField";
import { failed, fieldErrors } from "../../ui/problem";
import { useChanges, useList } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { Several } from "../../ui/Several";
import { texts } from "./texts";

/** AddAgent makes an agent with the built-in engine; the rest is chosen on its page. */
export function AddAgent({ opened, close, made }: { opened: boolean; close: () => void; made: (id: string) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const bases = useList("knowledge");
  const { add } = useChanges("agents");
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { name: "", language: language as string, knowledge: [] as string[] },
    validate: { name: (v) => (v.trim() ? null : s.required), language: (v) => (v ? null : s.required) },
  });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      const a = await add({ ...v, name: v.name.trim(), engine: "builtin", tools: ["search", "handoff", "hang_up"] });
      close();
      made(a.id);
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
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        <Stack>
          <TextInput
            label={t.name}
            description={t.nameHelp}
            maxLength={255}
            data-autofocus
            {...form.getInputProps("name")}
          />
          <LanguageField
            label={t.language}
            description={t.languageHelp}
            value={form.values.language}
            onChange={(v) => form.setFieldValue("language", v)}
            error={form.errors.language as string | undefined}
          />
          <Several
            searchable
            label={t.knowledge}
            description={bases.data?.length === 0 ? t.noKnowledge : t.knowledgeHelp}
            data={(bases.data ?? []).map((b) => b.id)}
            {...form.getInputProps("knowledge")}
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
