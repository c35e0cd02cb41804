import { NumberInput, SegmentedControl } from "@mantine/core";
import type { ReactNode } from "react";
import { useTexts } from "../../i18n";
import { deadlines, isCode, type Form } from "./form";
import { editorTexts } from "./texts";

/** DeadlineField is how long WhatsApp tries to deliver a message. Marketing templates have none. */
export function DeadlineField({
  form,
  set,
  error,
}: {
  form: Form;
  set: (to: Partial<Form>) => void;
  error: (field: string) => ReactNode;
}) {
  const t = useTexts(editorTexts);
  const most = deadlines[form.category];
  if (!most) return null;
  const choice = form.ttl === "" || form.ttl === "-1" ? form.ttl : "other";
  return (
    <div>
      <span className="field-label" id="template-deadline">
        {t.deadline}
      </span>
      <SegmentedControl
        aria-labelledby="template-deadline"
        className="templates-segments"
        value={choice}
        onChange={(v) => set({ ttl: v === "other" ? (isCode(form) ? "600" : "3600") : v })}
        data={[
          { value: "", label: isCode(form) ? t.deadlineCode : t.deadlineUsual },
          { value: "-1", label: t.deadlineLong },
          { value: "other", label: t.deadlineOther },
        ]}
      />
      <p className="templates-help small muted">{t.deadlineHelp}</p>
      {choice === "other" && (
        <NumberInput
          aria-label={t.deadlineSeconds}
          value={form.ttl}
          allowDecimal={false}
          allowNegative={false}
          max={99_999}
          suffix={t.deadlineUnit}
          error={error("ttl")}
          onChange={(v) => set({ ttl: String(v) || "0" })}
        />
      )}
    </div>
  );
}
