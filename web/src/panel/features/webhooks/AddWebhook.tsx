import { Button, Drawer, Group, Stack } from "@mantine/core";
import { useState, type FormEvent, type ReactNode } from "react";
import { Problem } from "../../api";
import { useTexts } from "../../i18n";
import { Note, Snippet } from "../../ui/parts";
import { failed, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Told } from "../../ui/Told";
import { FilterFields, HeaderFields, tidied, TypesField, UrlField } from "./Fields";
import { formTexts, texts } from "./texts";
import type { Webhook } from "./types";
import { useChanges } from "./useWebhooks";

const empty: Webhook = { url: "", events: ["*"] };

/** AddWebhook asks for an endpoint, and shows its secret once. */
export function AddWebhook({
  opened,
  close,
  made,
}: {
  opened: boolean;
  close: () => void;
  made: (id: string) => void;
}) {
  const t = useTexts(formTexts);
  const l = useTexts(texts);
  const s = useTexts(shared);
  const { add } = useChanges();
  const [value, setValue] = useState(empty);
  const [problem, setProblem] = useState<{ field: string; text: ReactNode }>({ field: "", text: "" });
  const [stored, setStored] = useState<Webhook | null>(null);
  const [busy, setBusy] = useState(false);
  const fields = {
    value,
    set: (change: Partial<Webhook>) => {
      setValue((v) => ({ ...v, ...change }));
      setProblem({ field: "", text: "" });
    },
    error: (field: string) => (problem.field === field || problem.field.startsWith(field + ".") ? problem.text : ""),
  };
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (!value.url.trim()) {
      setProblem({ field: "url", text: s.required });
      return;
    }
    if (value.events.length === 0) return;
    setBusy(true);
    try {
      setStored(await add(tidied(value)));
    } catch (e) {
      if (e instanceof Problem && e.field) setProblem({ field: e.field, text: why(e) });
      else if (e instanceof Problem && e.code === "conflict") setProblem({ field: "url", text: why(e) });
      else failed(e);
    } finally {
      setBusy(false);
    }
  };
  const clear = () => {
    setValue(empty);
    setProblem({ field: "", text: "" });
    setStored(null);
  };
  const finish = () => {
    close();
    made(stored!.id!);
  };
  return (
    <Drawer
      opened={opened}
      onClose={stored ? finish : close}
      onExitTransitionEnd={clear}
      position="right"
      size={600}
      title={stored ? t.made : l.create}
      closeOnClickOutside={!stored}
      closeOnEscape={!stored}
      closeButtonProps={{ "aria-label": s.close }}
    >
      {stored ? (
        <Stack>
          <Note tone="warn">
            <p>{t.madeText}</p>
          </Note>
          <Snippet code={stored.secret ?? ""} label={t.copySecret} />
          {stored.warning && (
            <Note tone="warn">
              <p>
                <Told text={stored.warning} />. {t.madeWarned}
              </p>
            </Note>
          )}
          <Group justify="flex-end">
            <Button data-autofocus onClick={finish}>
              {t.done}
            </Button>
          </Group>
        </Stack>
      ) : (
        <form onSubmit={(e) => void submit(e)} noValidate>
          <Stack>
            <UrlField {...fields} />
            <TypesField {...fields} />
            <FilterFields {...fields} />
            <HeaderFields {...fields} />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {s.cancel}
              </Button>
              <Button type="submit" loading={busy}>
                {l.create}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Drawer>
  );
}
