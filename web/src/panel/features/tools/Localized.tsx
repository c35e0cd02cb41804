import { SegmentedControl, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { fill, languages, useLanguage, useTexts, type Language } from "../../i18n";
import type { Localized as Texts } from "./types";
import { texts } from "./texts";

/** Localized edits a text in the panel's languages. Texts in other languages are kept. */
export function Localized({
  label,
  help,
  value,
  change,
  error,
}: {
  label: string;
  help?: string;
  value?: Texts;
  change: (value: Texts | undefined) => void;
  error?: ReactNode;
}) {
  const t = useTexts(texts);
  const own = useLanguage();
  const [language, setLanguage] = useState<Language>(own);
  const key = Object.keys(value ?? {}).find((k) => k.slice(0, 2).toLowerCase() === language) ?? language;
  const write = (text: string) => {
    const { [key]: _, ...rest } = value ?? {};
    const all = text ? { ...rest, [key]: text } : rest;
    change(Object.keys(all).length ? all : undefined);
  };
  return (
    <div>
      <TextInput
        label={label}
        description={help}
        maxLength={1000}
        value={value?.[key] ?? ""}
        onChange={(e) => write(e.currentTarget.value)}
        error={error}
        inputWrapperOrder={["label", "description", "input", "error"]}
      />
      <SegmentedControl
        mt={4}
        size="xs"
        aria-label={fill(t.languageOf, { label })}
        value={language}
        onChange={(v) => setLanguage(v as Language)}
        data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
      />
    </div>
  );
}
