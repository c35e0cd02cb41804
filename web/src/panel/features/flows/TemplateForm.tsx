import { Autocomplete, Select, TextInput } from "@mantine/core";
import { useEffect } from "react";
import { useTexts } from "../../i18n";
import { fieldsOf } from "../send/places";
import { texts as sendTexts } from "../send/texts";
import { Half, Said } from "./fields";
import { TemplateMessage, useTemplateOf } from "./Message";
import { errorOf, variablesOf } from "./model";
import { formTexts } from "./texts";
import type { SendTemplate, StepProps } from "./types";
import { useTemplates } from "./useFlows";

/** TemplateForm is the template that a step sends, with the values of its variables. */
export function TemplateForm({ path, step: s, steps, faults, change }: StepProps) {
  const f = useTexts(formTexts);
  const named = useTexts(sendTexts);
  const list = useTemplates().data ?? [];
  const x = s.send_template!;
  const set = (more: Partial<SendTemplate>) => change({ ...s, send_template: without({ ...x, ...more }) });
  const error = (field: string) => errorOf(faults, `${path}.send_template.${field}`);
  const approved = list.filter((t) => t.status === "approved");
  const found = useTemplateOf(x);
  const fields = found
    ? fieldsOf(named, found.components)
    : Object.keys(x.variables ?? {}).map((key) => ({ key, label: key }));
  const variables = variablesOf(steps);
  const languages = [...new Set(approved.filter((t) => t.name === x.name).map((t) => t.language))];
  const [language] = languages;
  // A name typed before the list arrives gets its language when the list does.
  useEffect(() => {
    if (language && !x.language) set({ language });
    // Not again when the language is emptied to type another.
  }, [language]);
  return (
    <>
      <Autocomplete
        label={f.template}
        description={f.templateHelp}
        data={[...new Set(approved.map((t) => t.name))]}
        value={x.name}
        spellCheck={false}
        error={error("name")}
        data-first=""
        onChange={(name) => {
          const t = approved.find((a) => a.name === name);
          change({ ...s, send_template: { ...x, name, language: t?.language ?? x.language ?? "" } });
        }}
      />
      {!found && x.name && list.length > 0 && <p className="small muted flow-body">{f.notKnown}</p>}
      <Half>
        <Autocomplete
          label={f.language}
          data={languages}
          value={x.language}
          spellCheck={false}
          onChange={(language) => change({ ...s, send_template: { ...x, language } })}
          error={error("language")}
        />
        <Select
          label={f.type}
          value={x.type || "utility"}
          allowDeselect={false}
          checkIconPosition="right"
          error={error("type")}
          onChange={(v) => set({ type: v === "utility" ? undefined : v! })}
          data={[
            { value: "utility", label: f.utility },
            { value: "transactional", label: f.transactional },
            { value: "marketing", label: f.marketing },
          ]}
        />
      </Half>
      {fields.map(({ key, label }) => (
        <Said
          key={key}
          rows={1}
          label={label}
          value={x.variables?.[key] ?? ""}
          error={error("variables." + key)}
          variables={variables}
          onChange={(v) => {
            const { [key]: _, ...rest } = x.variables ?? {};
            set({ variables: v ? { ...rest, [key]: v } : rest });
          }}
        />
      ))}
      <TemplateMessage of={x} steps={steps} />
      <Half>
        <Autocomplete
          label={f.sender}
          placeholder={f.senderDefault}
          data={[...new Set(list.map((t) => t.sender))]}
          value={x.sender ?? ""}
          spellCheck={false}
          onChange={(sender) => set({ sender })}
          error={error("sender")}
        />
        <TextInput
          label={f.campaign}
          placeholder="flow"
          maxLength={255}
          value={x.campaign ?? ""}
          onChange={(e) => set({ campaign: e.currentTarget.value })}
          error={error("campaign")}
        />
      </Half>
    </>
  );
}

/** without leaves out optional fields that are empty. */
function without(x: SendTemplate): SendTemplate {
  const kept = Object.entries(x).filter(([k, v]) => k === "name" || k === "language" || (v !== undefined && v !== ""));
  return { name: x.name, language: x.language, ...Object.fromEntries(kept) };
}
