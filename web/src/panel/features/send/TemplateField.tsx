import type { ReactNode } from "react";
import { Select, type ComboboxItem } from "@mantine/core";
import { useTexts } from "../../i18n";
import { Tag, type Tone } from "../../ui/parts";
import { texts } from "./texts";
import type { Template } from "./types";

const tones: Record<string, Tone | undefined> = {
  approved: "ok",
  pending: "warn",
  paused: "warn",
  rejected: "danger",
  disabled: "danger",
};

/** TemplateField chooses a template in a language. Those that cannot be sent are there too, with the reason. */
export function TemplateField({
  all,
  value,
  change,
  error,
}: {
  all: Template[];
  value: Template | undefined;
  change: (t: Template | undefined) => void;
  error?: ReactNode;
}) {
  const t = useTexts(texts);
  const label = (x: Template) =>
    `${x.name} (${x.language})${new Set(all.map((y) => y.sender)).size > 1 ? ` · ${x.number}` : ""}`;
  const state = (x: Template) => (t as Record<string, string>)[x.status] ?? x.status;
  const group = (name: string, items: Template[]) =>
    items.length
      ? [
          {
            group: name,
            items: items.map((x) => ({ value: x.id, label: label(x), disabled: x.status !== "approved" })),
          },
        ]
      : [];
  const option = ({ option: o }: { option: ComboboxItem }) => {
    const x = all.find((y) => y.id === o.value);
    if (!x) return o.label;
    return (
      <span className="send-option">
        <span className="send-option-head">
          <span className="cut">{o.label}</span>
          {x.status !== "approved" && <Tag tone={tones[x.status]}>{state(x)}</Tag>}
        </span>
        <span className="small muted cut">
          {x.status === "approved" ? x.body : x.reason || (t as Record<string, string>)["why_" + x.status]}
        </span>
      </span>
    );
  };
  return (
    <Select
      className="send-beside"
      inputWrapperOrder={["label", "error", "input"]}
      label={t.template}
      placeholder={t.chooseTemplate}
      searchable
      clearable
      required
      withAsterisk={false}
      nothingFoundMessage={t.noSuchTemplate}
      maxDropdownHeight={380}
      checkIconPosition="right"
      data={[
        ...group(
          t.approvedOnes,
          all.filter((x) => x.status === "approved"),
        ),
        ...group(
          t.otherOnes,
          all.filter((x) => x.status !== "approved"),
        ),
      ]}
      renderOption={option}
      error={error}
      value={value?.id ?? null}
      onChange={(id) => change(all.find((x) => x.id === id))}
    />
  );
}
