import { Button, Group, Modal, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { Problem } from "../../api";
import { useTexts } from "../../i18n";
import { failed, fieldErrors, why } from "../../ui/problem";
import { useChanges } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { texts } from "./texts";

/** AddTool makes a tool without parameters; the rest is filled in on its page. */
export function AddTool({ opened, close, made }: { opened: boolean; close: () => void; made: (id: string) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const { add } = useChanges("tools");
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { kind: "http", name: "", description: "", url: "" },
    validate: {
      name: (v) => (v.trim() ? null : s.required),
      url: (v) => (v.trim() ? null : s.required),
      description: (v, all) => (v.trim() || all.kind === "mcp" ? null : s.required),
    },
  });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    const url = v.url.trim();
    const named = [...new Set([...url.matchAll(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g)].map((m) => m[1]!))];
    try {
      const x = await add({
        name: v.name.trim(),
        description: v.description.trim() || undefined,
        ...(v.kind === "http"
          ? { http: { method: "GET", url }, parameters: named.map((name) => ({ name, type: "text", required: true })) }
          : { mcp: { url, tools: [] } }),
      });
      close();
      made(x.id);
    } catch (e) {
      if (e instanceof Problem && e.field.endsWith(".url")) form.setFieldError("url", why(e));
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
      title={t.create}
      closeButtonProps={{ "aria-label": s.close }}
      size={520}
    >
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        <Stack>
          <SegmentedControl
            aria-label={t.kind}
            data={[
              { value: "http", label: t.http },
              { value: "mcp", label: t.mcp },
            ]}
            {...form.getInputProps("kind")}
          />
          <TextInput
            label={t.name}
            description={t.nameHelp}
            maxLength={48}
            spellCheck={false}
            autoComplete="off"
            data-autofocus
            {...form.getInputProps("name")}
          />
          <TextInput
            label={t.address}
            description={form.values.kind === "http" ? t.addressHelp : t.mcpAddressHelp}
            maxLength={2000}
            spellCheck={false}
            autoComplete="off"
            {...form.getInputProps("url")}
          />
          <TextInput
            label={t.description}
            description={t.descriptionHelp}
            maxLength={1000}
            {...form.getInputProps("description")}
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
