import { Button, TextInput } from "@mantine/core";
import { IconCheck, IconFlask, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { failed, succeeded } from "../../ui/problem";
import { texts } from "./texts";
import type { TemplateRow } from "./types";
import { useTemplateChanges } from "./useTemplates";

/** Review is the sandbox's reviewer: somebody of the company plays the channel. */
export function Review({ template }: { template: TemplateRow }) {
  const t = useTexts(texts);
  const { review } = useTemplateChanges();
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState<"approve" | "reject">();
  const decide = async (approve: boolean) => {
    setBusy(approve ? "approve" : "reject");
    try {
      await review(template.id, approve, approve ? "" : reason.trim());
      succeeded(approve ? t.didApprove : t.didReject);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <section className="templates-review" aria-label={t.review}>
      <p className="small">
        <IconFlask size={14} aria-hidden="true" />
        <b>{t.sandbox}</b> {t.reviewText}
      </p>
      <div className="templates-decide">
        <Button
          size="xs"
          leftSection={<IconCheck size={14} />}
          loading={busy === "approve"}
          disabled={!!busy}
          onClick={() => void decide(true)}
        >
          {t.approve}
        </Button>
        <TextInput
          size="xs"
          aria-label={t.reviewReason}
          placeholder={t.reviewReason}
          value={reason}
          maxLength={400}
          onChange={(e) => setReason(e.currentTarget.value)}
        />
        <Button
          size="xs"
          variant="default"
          leftSection={<IconX size={14} />}
          loading={busy === "reject"}
          disabled={!!busy}
          onClick={() => void decide(false)}
        >
          {t.reject}
        </Button>
      </div>
    </section>
  );
}
