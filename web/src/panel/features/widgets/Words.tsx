import { ActionIcon, Button, Group, Select, TextInput, Textarea, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { textsFor } from "../../../chat/texts";
import { textsFor as spokenTexts } from "../../../voice/texts";
import { languageName } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import type { Widget } from "./types";
import type { Draft } from "../../ui/draft";
import { LanguageField } from "../../ui/LanguageField";
import { shared } from "../../ui/texts";
import { Starters } from "./Starters";
import { texts, voiceTexts } from "./texts";

/** own are the texts of the page that a company is likely to word in its own way. */
const own = {
  chat: ["placeholder", "person", "queued", "away", "thanks", "missed", "rate", "rated", "offline"],
  voice: [
    "title",
    "talk",
    "type",
    "terms",
    "agree",
    "deaf",
    "placeholder",
    "person",
    "queued",
    "missed",
    "ended",
    "rate",
    "rated",
  ],
} as const;

/** usualOf are the texts of a widget's page that has none of its own. */
function usualOf(kind: Widget["kind"], language: string): Record<string, string> {
  return kind === "voice" ? spokenTexts(language) : textsFor(language);
}

/** Words is what the widget says, language by language. */
export function Words({
  draft,
  shown,
  show,
}: {
  draft: Draft<Widget>;
  shown: string;
  show: (language: string) => void;
}) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const v = useTexts(voiceTexts);
  const { value: w, set, error } = draft;
  const [adding, setAdding] = useState("");
  const others = Object.keys(w.translations);
  const all = [w.language, ...others.filter((o) => o !== w.language)];
  const chosen = all.includes(shown) ? shown : w.language;
  const words = w.texts?.[chosen] ?? {};
  const usual = usualOf(w.kind, chosen);
  const setWord = (key: string, value: string) => {
    const { [key]: _, ...rest } = words;
    const next = value ? { ...rest, [key]: value } : rest;
    const { [chosen]: __, ...languages } = w.texts ?? {};
    const all = Object.keys(next).length ? { ...languages, [chosen]: next } : languages;
    set({ texts: Object.keys(all).length ? all : undefined });
  };
  const add = () => {
    if (!adding || adding in w.translations || adding === w.language) return;
    set({ translations: { ...w.translations, [adding]: w.welcome } });
    show(adding);
    setAdding("");
  };
  return (
    <div className="form">
      <LanguageField
        label={t.language}
        value={w.language}
        onChange={(tag) => set({ language: tag })}
        error={error("language")}
      />
      <Textarea
        label={t.welcome}
        description={w.kind === "voice" ? v.welcomeHelp : t.welcomeHelp}
        autosize
        minRows={2}
        value={w.welcome}
        onFocus={() => show(w.language)}
        onChange={(e) => set({ welcome: e.currentTarget.value })}
        error={error("welcome")}
      />
      <div>
        <div className="field-label">{t.translations}</div>
        <div className="small muted" style={{ marginBottom: 8 }}>
          {t.translationsHelp}
        </div>
        <div className="stack" style={{ gap: 8 }}>
          {others.map((o) => (
            <Group key={o} gap={8} wrap="nowrap" align="flex-end">
              <Textarea
                style={{ flex: 1 }}
                autosize
                minRows={1}
                label={languageName(o, language)}
                value={w.translations[o]}
                error={error("translations." + o)}
                onFocus={() => show(o)}
                onChange={(e) => set({ translations: { ...w.translations, [o]: e.currentTarget.value } })}
              />
              <Tooltip label={fill(t.removeLanguage, { language: languageName(o, language) })}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  aria-label={fill(t.removeLanguage, { language: languageName(o, language) })}
                  onClick={() => {
                    const { [o]: _, ...rest } = w.translations;
                    set({ translations: rest });
                    show(w.language);
                  }}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Tooltip>
            </Group>
          ))}
          <Group gap={8} wrap="nowrap" align="flex-end">
            <div style={{ flex: 1 }}>
              <LanguageField label={t.addLanguage} value={adding} onChange={setAdding} />
            </div>
            <Button variant="default" leftSection={<IconPlus size={15} />} disabled={!adding} onClick={add}>
              {s.add}
            </Button>
          </Group>
        </div>
      </div>
      <div>
        <Group justify="space-between" align="flex-end" mb={8}>
          <div>
            <div className="field-label">{t.wording}</div>
            <div className="small muted">{t.wordingHelp}</div>
          </div>
          <Select
            aria-label={t.wordsIn}
            size="xs"
            w={150}
            allowDeselect={false}
            value={chosen}
            onChange={(l) => l && show(l)}
            data={all.map((l) => ({ value: l, label: languageName(l, language) }))}
          />
        </Group>
        <div className="stack" style={{ gap: 8 }}>
          <TextInput
            label={t.label}
            description={t.labelHelp}
            maxLength={30}
            value={words.launcher ?? ""}
            onChange={(e) => setWord("launcher", e.currentTarget.value)}
            error={error(`texts.${chosen}.launcher`)}
          />
          {w.kind === "voice" && (
            <TextInput
              label={v.buttonName}
              placeholder={w.name}
              maxLength={500}
              value={words.button ?? ""}
              onChange={(e) => setWord("button", e.currentTarget.value)}
              error={error(`texts.${chosen}.button`)}
            />
          )}
          {w.kind === "chat" && <Starters draft={draft} language={chosen} />}
          {own[w.kind].map((key) => (
            <TextInput
              key={key}
              aria-label={usual[key]}
              placeholder={usual[key]}
              maxLength={500}
              value={words[key] ?? ""}
              onChange={(e) => setWord(key, e.currentTarget.value)}
              error={error(`texts.${chosen}.${key}`)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}
