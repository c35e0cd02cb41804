import type { ReactNode } from "react";
import { Autocomplete } from "@mantine/core";
import { languageName } from "../format";
import { useLanguage } from "../i18n";

const common = ["en", "es", "pt", "pt-BR", "fr", "de", "it", "ca", "gl", "eu", "nl", "pl", "ar", "he", "zh", "ja"];

/** LanguageField takes a BCP 47 tag, such as es or pt-BR. */
export function LanguageField({
  value,
  onChange,
  label,
  description,
  error,
  disabled,
}: {
  value: string;
  onChange: (v: string) => void;
  label: string;
  description?: string;
  error?: ReactNode;
  disabled?: boolean;
}) {
  const language = useLanguage();
  const name = value && languageName(value, language);
  return (
    <Autocomplete
      label={label}
      description={description}
      error={error}
      disabled={disabled}
      value={value}
      onChange={onChange}
      data={common}
      spellCheck={false}
      autoComplete="off"
      filter={({ options, search }) =>
        options.filter(
          (o) =>
            "value" in o &&
            (common.includes(search) ||
              o.value.startsWith(search.toLowerCase()) ||
              languageName(o.value, language).toLowerCase().startsWith(search.toLowerCase())),
        )
      }
      renderOption={({ option }) => (
        <span>
          {languageName(option.value, language)} <span className="muted">{option.value}</span>
        </span>
      )}
      rightSection={name && name !== value ? <span className="small muted cut">{name}</span> : null}
      rightSectionWidth={120}
      rightSectionPointerEvents="none"
    />
  );
}
