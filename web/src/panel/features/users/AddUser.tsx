import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import type { Role } from "../session/types";
import type { User } from "./types";
import { Snippet } from "../../ui/parts";
import { failed, fieldErrors, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { RoleField } from "./RoleField";
import { invented, PasswordField } from "./PasswordField";
import { texts } from "./texts";

/** AddUser makes an account, or takes one that exists into the company. */
export function AddUser({ opened, close }: { opened: boolean; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<{ user: User; password: string } | null>(null);
  const form = useForm({
    initialValues: { email: "", name: "", role: "teammate" as Role, password: "" },
    validate: {
      email: (v) => (/^\S+@\S+$/.test(v.trim()) ? null : t.emailBad),
      password: (v) => (v === "" || [...v].length >= 12 ? null : t.short),
    },
  });
  const clear = () => {
    setMade(null);
    form.reset();
  };
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      const user = await post("/users", {
        email: v.email.trim(),
        name: v.name.trim() || undefined,
        role: v.role,
        password: v.password || undefined,
      });
      void client.invalidateQueries({ queryKey: [company.id, "users"] });
      if (v.password) setMade({ user, password: v.password });
      else {
        succeeded(fill(t.added, { name: user.name || user.email }));
        close();
      }
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
      onExitTransitionEnd={clear}
      title={made ? fill(t.added, { name: made.user.name || made.user.email }) : t.addTitle}
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      closeButtonProps={{ "aria-label": s.close }}
      size={460}
    >
      {made ? (
        <Stack>
          <div>{t.addedText}</div>
          <Snippet code={made.user.email} />
          <Snippet code={made.password} />
          <Group justify="flex-end">
            <Button onClick={close}>{t.done}</Button>
          </Group>
        </Stack>
      ) : (
        <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
          <Stack>
            <TextInput
              label={t.email}
              type="email"
              autoComplete="off"
              data-autofocus
              {...form.getInputProps("email")}
            />
            <TextInput label={t.name} autoComplete="off" maxLength={100} {...form.getInputProps("name")} />
            <RoleField value={form.values.role} onChange={(role) => form.setFieldValue("role", role)} />
            <PasswordField
              label={t.password}
              description={t.passwordHelp}
              invent={() => form.setFieldValue("password", invented())}
              {...form.getInputProps("password")}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {s.cancel}
              </Button>
              <Button type="submit" loading={busy}>
                {t.add}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
