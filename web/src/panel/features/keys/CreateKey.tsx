import { Button, Checkbox, Group, Modal, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { scopes, type Key } from "./types";
import { Note, Snippet } from "../../ui/parts";
import { failed, fieldErrors } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { base } from "../widgets/places";
import { texts } from "./texts";

const some = scopes.filter((s) => s !== "*");

/** trialOf is a request that a key of some scopes is good for and that changes nothing; "": there is none. */
export function trialOf(granted: string[]): string {
  const may = (scope: string) => granted.includes("*") || granted.includes(scope);
  if (may("usage:read")) return "/functions/v1/usage";
  if (may("templates:read")) return "/functions/v1/notify/templates";
  return "";
}

/** CreateKey asks what a key is for, and shows it once. */
export function CreateKey({ opened, close }: { opened: boolean; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const [made, setMade] = useState<Key | null>(null);
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { label: "", all: "some", scopes: ["notify:send", "notify:read", "templates:read"], days: "365" },
    validate: {
      label: (v) => (v.trim() ? null : s.required),
      scopes: (v, all) => (all.all === "all" || v.length ? null : t.choose),
    },
  });
  const trial = trialOf(made?.scopes ?? []);
  const clear = () => {
    setMade(null);
    form.reset();
  };
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      const days = Number(v.days);
      const k = await post("/keys", {
        label: v.label.trim(),
        scopes: v.all === "all" ? ["*"] : v.scopes,
        expires_at: days ? new Date(Date.now() + days * 86_400_000).toISOString() : undefined,
      });
      setMade(k);
      void client.invalidateQueries({ queryKey: [company.id, "keys"] });
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
      title={made ? t.made : t.create}
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      closeButtonProps={{ "aria-label": s.close }}
      size={480}
    >
      {made?.key ? (
        <Stack>
          <Note tone="warn">
            <p>{t.madeText}</p>
          </Note>
          <Snippet code={made.key} label={t.copyKey} />
          {trial && (
            <div>
              <div className="field-label">{t.trial}</div>
              <Snippet code={`curl '${base}${trial}?access_key=${made.key}'`} label={t.copyTrial} />
            </div>
          )}
          <Group justify="flex-end">
            <Button onClick={close}>{t.done}</Button>
          </Group>
        </Stack>
      ) : (
        <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
          <Stack>
            <TextInput
              label={t.label}
              description={t.labelHelp}
              maxLength={100}
              data-autofocus
              {...form.getInputProps("label")}
            />
            <div>
              <div id="scopes-label" className="field-label">
                {t.scopes}
              </div>
              <SegmentedControl
                fullWidth
                aria-labelledby="scopes-label"
                {...form.getInputProps("all")}
                data={[
                  { value: "some", label: t.some },
                  { value: "all", label: t.everything },
                ]}
              />
            </div>
            {form.values.all === "some" && (
              <Checkbox.Group {...form.getInputProps("scopes")} aria-label={t.scopes}>
                <div style={{ display: "grid", gridTemplateColumns: "repeat(auto-fill, minmax(180px, 1fr))", gap: 10 }}>
                  {some.map((name) => (
                    <Checkbox key={name} value={name} label={(t as Record<string, string>)[name] ?? name} />
                  ))}
                </div>
              </Checkbox.Group>
            )}
            <div>
              <div id="expires-label" className="field-label">
                {t.expires}
              </div>
              <SegmentedControl
                fullWidth
                aria-labelledby="expires-label"
                {...form.getInputProps("days")}
                data={[
                  { value: "30", label: t.expiry30 },
                  { value: "90", label: t.expiry90 },
                  { value: "365", label: t.expiry365 },
                  { value: "0", label: t.expiryNever },
                ]}
              />
            </div>
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
      )}
    </Modal>
  );
}
