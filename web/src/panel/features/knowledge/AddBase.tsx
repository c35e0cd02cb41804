import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { Problem } from "../../api";
import { fill, useTexts } from "../../i18n";
import { failed, why } from "../../ui/problem";
import { useChanges } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { idOf } from "./id";
import { texts } from "./texts";

/** AddBase makes an empty base. */
export function AddBase({ opened, close, made }: { opened: boolean; close: () => void; made: (id: string) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const { add } = useChanges("knowledge");
  const [busy, setBusy] = useState(false);
  const form = useForm({ initialValues: { id: "" }, validate: { id: (v) => (idOf(v) ? null : s.required) } });
  const id = idOf(form.values.id);
  const submit = async ({ id }: { id: string }) => {
    setBusy(true);
    try {
      made((await add({ id: idOf(id), articles: [] })).id);
      close();
    } catch (e) {
      if (e instanceof Problem && (e.field === "id" || e.code === "conflict")) form.setFieldError("id", why(e));
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
            description={id && id !== form.values.id ? fill(t.nameIs, { id }) : t.nameHelp}
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
