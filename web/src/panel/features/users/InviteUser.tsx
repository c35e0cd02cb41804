import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api";
import { currentLanguage, fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import type { Role } from "../session/types";
import { failed, fieldErrors, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { inviteTexts, texts } from "./texts";
import { Link, type Linked } from "./Link";
import { RoleField } from "./RoleField";

/** InviteUser invites somebody by e-mail, or shows the link to pass on. */
export function InviteUser({ opened, close }: { opened: boolean; close: () => void }) {
  const t = useTexts(texts);
  const i = useTexts(inviteTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<Linked | null>(null);
  const form = useForm({
    initialValues: { email: "", role: "teammate" as Role },
    validate: { email: (v) => (/^\S+@\S+$/.test(v.trim()) ? null : t.emailBad) },
  });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      const x = await post("/invitations", { email: v.email.trim(), role: v.role, language: currentLanguage() });
      void client.invalidateQueries({ queryKey: [company.id, "invitations"] });
      if (x.link) setMade({ who: x.email, link: x.link, problem: x.problem });
      else {
        succeeded(fill(i.sent, { email: x.email }));
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
      onExitTransitionEnd={() => {
        setMade(null);
        form.reset();
      }}
      title={i.inviteTitle}
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      closeButtonProps={{ "aria-label": s.close }}
      size={500}
    >
      {made ? (
        <Link made={made} about={i.linkAbout} close={close} />
      ) : (
        <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
          <Stack>
            <div className="muted">{i.inviteAbout}</div>
            <TextInput
              label={t.email}
              type="email"
              autoComplete="off"
              data-autofocus
              {...form.getInputProps("email")}
            />
            <RoleField value={form.values.role} onChange={(role) => form.setFieldValue("role", role)} />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {s.cancel}
              </Button>
              <Button type="submit" loading={busy}>
                {i.invite}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
