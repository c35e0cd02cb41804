import { Checkbox, Select, TagsInput, TextInput } from "@mantine/core";
import { useTexts } from "../../i18n";
import { Note } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { formTexts } from "./texts";
import { errorOf } from "./model";
import type { Fault, Trigger } from "./types";

/** TriggerForm is what starts a flow: any of these, each by itself. */
export function TriggerForm({
  value: x,
  change,
  faults,
}: {
  value: Trigger;
  change: (to: Trigger) => void;
  faults: Fault[];
}) {
  const f = useTexts(formTexts);
  const widgets = useList("widgets").data ?? [];
  const set = (more: Partial<Trigger>) =>
    change(
      Object.fromEntries(
        Object.entries({ ...x, ...more }).filter(([, v]) => v !== undefined && v !== "" && v !== false),
      ),
    );
  const error = (field: string) => errorOf(faults, "trigger." + field);
  const nothing = !x.event && !x.keywords?.length && !x.widget && !x.inbound;
  const known = widgets.map((w) => ({ value: w.id, label: w.name }));
  return (
    <div className="form flow-fields">
      {nothing && <Note tone="warn">{f.nothing}</Note>}
      <TagsInput
        label={f.keywords}
        description={f.keywordsHelp}
        maxTags={50}
        acceptValueOnBlur
        value={x.keywords ?? []}
        onChange={(keywords) => set({ keywords: keywords.length ? keywords : undefined })}
        error={error("keywords")}
      />
      <div className="pair flow-half">
        <TextInput
          label={f.event}
          description={f.eventHelp}
          spellCheck={false}
          maxLength={255}
          value={x.event ?? ""}
          onChange={(e) => set({ event: e.currentTarget.value })}
          error={error("event")}
        />
        <Select
          label={f.widget}
          description={f.widgetHelp}
          placeholder={f.noWidget}
          clearable
          checkIconPosition="right"
          data={known}
          value={known.find((w) => w.value === x.widget || w.label === x.widget)?.value ?? null}
          onChange={(v) => set({ widget: v ?? undefined })}
          error={error("widget")}
        />
      </div>
      <Checkbox
        label={f.inbound}
        description={f.inboundHelp}
        checked={x.inbound ?? false}
        onChange={(e) => set({ inbound: e.currentTarget.checked })}
      />
    </div>
  );
}
