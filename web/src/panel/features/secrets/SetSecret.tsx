import { Button, Group, Modal, PasswordInput, Stack, TagsInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useEffect, useState } from "react";
import { Problem } from "../../api";
import { fill, useTexts } from "../../i18n";
import { failed, fieldErrors, succeeded, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { texts } from "./texts";
import { useSecretChanges, type Secret } from "./useSecrets";

/** SetSecret adds a secret, or replaces one. begin is what a new one begins with. */
export function SetSecret({
  opened,
  close,
  secret,
  begin,
  stored,
}: {
  opened: boolean;
  close: () => void;
  secret?: Secret;
  begin?: { host: string; value: string };
  stored?: (name: string) => void;
}) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const { add, replace } = useSecretChanges();
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { name: "", hosts: [] as string[], value: "" },
    validate: {
      name: (v) => (v.trim() ? null : s.required),
      hosts: (v) => (v.length ? null : s.required),
      value: (v) => (v || secret ? null : s.required),
    },
  });
  useEffect(() => {
    if (opened)
      form.setValues({
        name: secret?.name ?? "",
        hosts: secret?.hosts ?? (begin?.host ? [begin.host] : []),
        value: begin?.value ?? "",
      });
  }, [opened]); // later, the form holds the person's edits
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      const given = { name: v.name.trim(), hosts: v.hosts, ...(v.value ? { value: v.value } : {}) };
      await (secret ? replace(given) : add(given));
      succeeded(secret ? t.replaced : t.added);
      stored?.(given.name);
      close();
    } catch (e) {
      if (e instanceof Problem && e.field.startsWith("hosts")) form.setFieldError("hosts", why(e));
      else if (e instanceof Problem && e.code === "conflict") form.setFieldError("name", why(e));
      else if (!fieldErrors(e, form)) failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={form.reset}
      title={secret ? fill(t.replaceTitle, { name: secret.name }) : t.create}
      closeButtonProps={{ "aria-label": s.close }}
      size={480}
    >
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        <Stack>
          {!secret && (
            <TextInput
              label={t.name}
              description={t.nameHelp}
              maxLength={64}
              spellCheck={false}
              autoComplete="off"
              data-autofocus
              {...form.getInputProps("name")}
            />
          )}
          <TagsInput
            label={t.hosts}
            description={t.hostsHelp}
            maxTags={20}
            acceptValueOnBlur
            {...form.getInputProps("hosts")}
          />
          <PasswordInput
            label={t.value}
            description={secret ? t.keepHelp : t.valueHelp}
            autoComplete="off"
            maxLength={4000}
            visibilityToggleButtonProps={{ "aria-label": t.value }}
            {...form.getInputProps("value")}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" loading={busy}>
              {secret ? t.replace : t.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
