import { Button, Group, Modal, NumberInput, Stack, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Problem } from "../../api";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import type { Site } from "./types";
import { failed, why } from "../../ui/problem";
import { useChanges } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { siteTexts } from "./texts";

/** lines are the texts of a field with one a line. */
const lines = (text: string) =>
  text
    .split("\n")
    .map((l) => l.trim())
    .filter(Boolean);

/** SiteForm adds a site to a base, or changes one. */
export function SiteForm({ base, site, close }: { base: string; site?: Site; close: () => void }) {
  const t = useTexts(siteTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const { add, replace } = useChanges("sites");
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: {
      address: site?.address ?? "",
      include: site?.include.join("\n") ?? "",
      exclude: site?.exclude.join("\n") ?? "",
      max_pages: site?.max_pages ?? 200,
    },
    validate: { address: (v) => (v.trim() ? null : s.required) },
  });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    const address = v.address.trim();
    const written = {
      knowledge: base,
      address: /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : "https://" + address,
      include: lines(v.include),
      exclude: lines(v.exclude),
      max_pages: v.max_pages,
    };
    try {
      if (site) await replace({ ...written, id: site.id, name: "" });
      else await add(written);
      await client.invalidateQueries({ queryKey: [company.id, "sites"] });
      close();
    } catch (e) {
      const field = e instanceof Problem ? e.field.split(".")[0]! : "";
      if (e instanceof Problem && field in form.values) form.setFieldError(field, why(e));
      else failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title={site ? t.edit : t.add} size={540} closeButtonProps={{ "aria-label": s.close }}>
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        <Stack>
          <TextInput
            label={t.address}
            description={t.addressHelp}
            type="url"
            placeholder="https://www.example.com/help/"
            data-autofocus
            {...form.getInputProps("address")}
          />
          <Textarea
            label={t.include}
            description={t.includeHelp}
            autosize
            minRows={1}
            maxRows={6}
            spellCheck={false}
            {...form.getInputProps("include")}
          />
          <Textarea
            label={t.exclude}
            autosize
            minRows={1}
            maxRows={6}
            spellCheck={false}
            {...form.getInputProps("exclude")}
          />
          <NumberInput
            label={t.maxPages}
            min={1}
            max={2000}
            allowDecimal={false}
            maw={200}
            {...form.getInputProps("max_pages")}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" loading={busy}>
              {site ? s.save : t.add}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
