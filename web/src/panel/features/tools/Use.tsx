import type { ReactNode } from "react";
import { Switch, TagsInput } from "@mantine/core";
import { useTexts } from "../../i18n";
import { Localized } from "./Localized";
import { texts } from "./texts";
import type { Localized as Texts } from "./types";

/** Used is how agents use a tool. */
interface Used {
  title?: Texts;
  phrases?: string[];
  changes?: boolean;
  idempotent?: boolean;
  confirm?: Texts;
  say?: Texts;
  not_found?: Texts;
}

/** Use edits the words and the confirmation of a tool. at begins the names of its fields in errors. */
export function Use({
  value,
  change,
  error,
  at,
  notFound,
}: {
  value: Used;
  change: (more: Partial<Used>) => void;
  error: (field: string) => ReactNode;
  at: string;
  notFound?: boolean;
}) {
  const t = useTexts(texts);
  return (
    <>
      <TagsInput
        label={t.phrases}
        description={t.phrasesHelp}
        maxTags={20}
        acceptValueOnBlur
        value={value.phrases ?? []}
        onChange={(phrases) => change({ phrases: phrases.length ? phrases : undefined })}
        error={error(at + "phrases")}
      />
      <Localized
        label={t.say}
        help={t.sayHelp}
        value={value.say}
        change={(say) => change({ say })}
        error={error(at + "say")}
      />
      {notFound && (
        <Localized
          label={t.notFound}
          value={value.not_found}
          change={(not_found) => change({ not_found })}
          error={error("not_found")}
        />
      )}
      <Switch
        label={t.changes}
        description={t.changesHelp}
        checked={value.changes ?? true}
        onChange={(e) => change({ changes: e.currentTarget.checked })}
      />
      {(value.changes ?? true) && (
        <>
          <Localized
            label={t.confirm}
            help={t.confirmHelp}
            value={value.confirm}
            change={(confirm) => change({ confirm })}
            error={error(at + "confirm")}
          />
          <Localized
            label={t.titleWords}
            help={t.titleWordsHelp}
            value={value.title}
            change={(title) => change({ title })}
            error={error(at + "title")}
          />
          <Switch
            label={t.idempotent}
            description={t.idempotentHelp}
            checked={value.idempotent ?? false}
            onChange={(e) => change({ idempotent: e.currentTarget.checked || undefined })}
          />
        </>
      )}
    </>
  );
}
