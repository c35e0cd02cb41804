import { Button } from "@mantine/core";
import type { FormEvent } from "react";
import { useTexts } from "../../i18n";
import { Card } from "../../ui/parts";
import { AdvancedFields, IdFields, SecretFields } from "./fields";
import { texts } from "./texts";
import type { CloudSettings, MessagingSender } from "./types";
import { useSenderDraft } from "./useSenderDraft";

/** AccessStep corrects the ids and secrets of a sender that is being connected, and goes on. */
export function AccessStep({ stored, next }: { stored: MessagingSender; next: () => void }) {
  const t = useTexts(texts);
  const draft = useSenderDraft(stored);
  const { settings } = draft.value;
  const change = (more: Partial<CloudSettings>) => draft.set({ settings: { ...settings, ...more } });
  const fields = { value: settings, change, error: draft.error };
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (!draft.dirty || (await draft.save())) next();
  };
  return (
    <form onSubmit={(e) => void submit(e)} noValidate>
      <Card title={t.access}>
        <div className="stack">
          <IdFields {...fields} />
          <SecretFields {...fields} set={stored.secrets} />
          <AdvancedFields {...fields} />
        </div>
      </Card>
      <div className="connect-foot">
        <Button type="submit" loading={draft.busy}>
          {draft.dirty ? t.saveGo : t.next}
        </Button>
      </div>
    </form>
  );
}
