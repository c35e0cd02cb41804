import { Button, Group, Modal, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { post, Problem, put } from "../../api";
import { fill, useTexts } from "../../i18n";
import { Note } from "../../ui/parts";
import { failed, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { faultSentence } from "./faults";
import { meaningTexts } from "./texts";
import type { Embeddings, VectorState } from "./types";

/** Tried is the result of a trial request to the server. */
interface Tried {
  dimensions?: number;
  ms: number;
  fault?: string;
  detail?: string;
}

const slow = 250; // ms, close to the time that a search waits

/** MeaningForm names the embeddings server of a base, or changes it. */
export function MeaningForm({
  base,
  server,
  close,
  saved,
}: {
  base: string;
  server: Embeddings | null;
  close: () => void;
  saved: (now: VectorState) => void;
}) {
  const t = useTexts(meaningTexts);
  const s = useTexts(shared);
  const [busy, setBusy] = useState<"save" | "try">();
  const [tried, setTried] = useState<Tried>();
  const form = useForm({
    initialValues: {
      base_url: server?.base_url ?? "",
      model: server?.model ?? "",
      api_key: "",
      question_prefix: server?.question_prefix ?? "",
      passage_prefix: server?.passage_prefix ?? "",
    },
    validate: { base_url: (v) => (v.trim() ? null : s.required), model: (v) => (v.trim() ? null : s.required) },
    onValuesChange: () => setTried(undefined),
  });
  const path = `/knowledge/${encodeURIComponent(base)}/embeddings` as const;
  const run = async (what: "save" | "try", v: typeof form.values) => {
    setBusy(what);
    const body = { ...v, base_url: v.base_url.trim(), model: v.model.trim(), api_key: v.api_key || undefined };
    try {
      if (what === "try") setTried(await post(`${path}/try`, body));
      else saved(await put(path, body));
    } catch (e) {
      if (e instanceof Problem && e.field in form.values) form.setFieldError(e.field, why(e));
      else failed(e);
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <Modal
      opened
      onClose={close}
      title={server ? t.edit : t.setUp}
      size={540}
      closeButtonProps={{ "aria-label": s.close }}
    >
      <form onSubmit={form.onSubmit((v) => void run("save", v))} noValidate>
        <Stack>
          <TextInput
            label={t.baseUrl}
            description={t.baseUrlHelp}
            type="url"
            placeholder="https://api.openai.com/v1"
            spellCheck={false}
            data-autofocus
            {...form.getInputProps("base_url")}
          />
          <TextInput label={t.model} spellCheck={false} {...form.getInputProps("model")} />
          <PasswordInput
            label={t.key}
            description={t.keyHelp}
            autoComplete="off"
            visibilityToggleButtonProps={{ "aria-label": t.key }}
            {...form.getInputProps("api_key")}
          />
          <div role="group" aria-label={t.prefixes}>
            <p className="muted small" style={{ marginTop: 0 }}>
              {t.prefixesHelp}
            </p>
            <div className="pair">
              <TextInput label={t.questionPrefix} spellCheck={false} {...form.getInputProps("question_prefix")} />
              <TextInput label={t.passagePrefix} spellCheck={false} {...form.getInputProps("passage_prefix")} />
            </div>
          </div>
          <div role="status">
            {tried &&
              (tried.fault ? (
                <Note tone="warn">{faultSentence(t, tried.fault, tried.detail)}</Note>
              ) : (
                <Note tone={tried.ms > slow ? "warn" : undefined}>
                  {fill(t.works, { dimensions: tried.dimensions ?? 0, ms: tried.ms })} {tried.ms > slow && t.tooSlow}
                </Note>
              ))}
          </div>
          <Group justify="space-between">
            <Button
              variant="default"
              loading={busy === "try"}
              disabled={!!busy}
              onClick={() => !form.validate().hasErrors && void run("try", form.values)}
            >
              {t.try}
            </Button>
            <Group>
              <Button variant="default" onClick={close}>
                {s.cancel}
              </Button>
              <Button type="submit" loading={busy === "save"} disabled={!!busy}>
                {s.save}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
