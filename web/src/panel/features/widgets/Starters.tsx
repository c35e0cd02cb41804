import { TextInput } from "@mantine/core";
import { fill, useTexts } from "../../i18n";
import type { Draft } from "../../ui/draft";
import type { Widget } from "./types";
import { texts } from "./texts";

const most = 4;

/** Starters are the questions that a visitor can send from the empty chat, in one language. */
export function Starters({ draft, language }: { draft: Draft<Widget>; language: string }) {
  const t = useTexts(texts);
  const { value: w, set, error } = draft;
  const own = w.starters?.[language] ?? [];
  const keep = (next: string[]) => {
    if (next.length === own.length && next.every((x, i) => x === own[i])) return;
    const { [language]: _, ...rest } = w.starters ?? {};
    const all = next.length ? { ...rest, [language]: next } : rest;
    set({ starters: Object.keys(all).length ? all : undefined });
  };
  const write = (at: number, text: string) => keep(Object.assign([...own], { [at]: text }));
  return (
    <div role="group" aria-label={t.starters}>
      <div className="field-label">{t.starters}</div>
      <div className="small muted" style={{ marginBottom: 8 }}>
        {t.startersHelp}
      </div>
      <div className="stack" style={{ gap: 8 }}>
        {Array.from({ length: Math.min(most, own.length + 1) }, (_, i) => (
          <TextInput
            key={i}
            aria-label={fill(t.starter, { n: i + 1 })}
            placeholder={i === 0 ? t.starterExample : undefined}
            maxLength={80}
            value={own[i] ?? ""}
            onChange={(e) => write(i, e.currentTarget.value)}
            onBlur={() => keep(own.filter((x) => x.trim()))}
            error={error(`starters.${language}.${i}`)}
          />
        ))}
      </div>
      {error(`starters.${language}`) && (
        <p className="small" role="alert" style={{ color: "var(--danger)", margin: "8px 0 0" }}>
          {error(`starters.${language}`)}
        </p>
      )}
    </div>
  );
}
