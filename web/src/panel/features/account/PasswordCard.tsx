import { Button, PasswordInput, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api";
import { useTexts } from "../../i18n";
import { useMe } from "../../session";
import { Card } from "../../ui/parts";
import { failed, fieldErrors, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { texts } from "./texts";

/** PasswordCard changes the person's own password. */
export function PasswordCard() {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const me = useMe();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { present: "", password: "" },
    validate: { present: (v) => (v ? null : s.required), password: (v) => ([...v].length >= 12 ? null : t.short) },
  });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      await post("/user/password", v);
      form.reset();
      succeeded(t.changed);
      void client.invalidateQueries({ queryKey: ["sessions"] });
    } catch (e) {
      if (!fieldErrors(e, form)) failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={t.password}>
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate style={{ maxWidth: 360 }}>
        <Stack>
          <div className="muted">{t.passwordAbout}</div>
          <input type="text" name="username" autoComplete="username" value={me.account.email} readOnly hidden />
          <PasswordInput
            label={t.present}
            autoComplete="current-password"
            visibilityToggleButtonProps={{ "aria-label": t.show }}
            {...form.getInputProps("present")}
          />
          <PasswordInput
            label={t.fresh}
            description={t.freshHelp}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ "aria-label": t.show }}
            {...form.getInputProps("password")}
          />
          <div>
            <Button type="submit" loading={busy}>
              {t.change}
            </Button>
          </div>
        </Stack>
      </form>
    </Card>
  );
}
