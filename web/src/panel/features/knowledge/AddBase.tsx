import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { Problem } from "../../api";
import { useTexts } from "../../i18n";
import { failed } from "../../ui/problem";
import { useChanges } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { texts } from "./texts";

/** AddBase makes an empty base. */
export function AddBase({ opened, close, made }: { opened: boolean; close: () => void; made: (id: string) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const { add } = useChanges("knowledge");
  const [busy, setBusy] = useState(false);
  const form = useForm({ initialValues: { id: "" }, validate: { id: (v) => (v.trim() ? null : s.required) } });
  const submit = async ({ id }: { id: string }) => {
    setBusy(true);
    try {
      made((await add({ id: id.trim(), articles: [] })).id);
      close();
    } catch (e) {
      if (e instanceof Problem && (e.field === "id" || e.code === "conflict"))
        form.setFieldError("id", e.reason || e.message);
      else failed(e);
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
      size={420}
    >
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        <Stack>
          <TextInput
            label={t.name}
            description={t.nameHelp}
            spellCheck={false}
            data-autofocus
            {...form.getInputProps("id")}
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
