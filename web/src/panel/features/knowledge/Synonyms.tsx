import { filled } from "../../ui/English";
import { Button, Group, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Problem, put } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Card } from "../../ui/parts";
import { failed, succeeded, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { firstFault, groupsOf, lineOf } from "./synonyms";
import type { Base } from "./types";
import { testBase } from "./useArticles";
import { synonymTexts as texts } from "./texts";

/** Synonyms shows and changes the synonyms of a base. */
export function Synonyms({ base, can }: { base: Base; can: boolean }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const stored = (base.synonyms ?? []).join("\n");
  const [draft, setDraft] = useState<string>();
  const [checked, setChecked] = useState(false);
  const [refused, setRefused] = useState<ReactNode>("");
  const [saving, setSaving] = useState(false);
  const text = draft ?? stored;
  const fault = firstFault(text);
  const save = async () => {
    setChecked(true);
    if (fault !== undefined) return;
    setSaving(true);
    try {
      const synonyms = groupsOf(text);
      await testBase(base.id, (x) => ({ ...x, synonyms }));
      await put(`/knowledge/${encodeURIComponent(base.id)}/synonyms`, { synonyms });
      client.setQueryData<Base>([company.id, "knowledge", base.id], (x) => x && { ...x, synonyms });
      setDraft(undefined);
      setChecked(false);
      succeeded(s.saved);
    } catch (e) {
      if (!(e instanceof Problem) || !e.field.startsWith("synonyms")) return failed(e);
      const reason = why(e);
      const group = /^synonyms\.(\d+)$/.exec(e.field);
      setRefused(group ? filled(t.refused, { n: lineOf(text, Number(group[1])), why: reason }) : reason);
    } finally {
      setSaving(false);
    }
  };
  const changed = draft !== undefined && draft !== stored;
  return (
    <Card title={t.title}>
      {can ? (
        <form
          className="stack"
          onSubmit={(e) => {
            e.preventDefault();
            void save();
          }}
        >
          <Textarea
            aria-label={t.title}
            description={t.help}
            placeholder={t.example}
            autosize
            minRows={2}
            maxRows={16}
            value={text}
            error={
              refused || (checked && fault !== undefined && (fault === "many" ? t.many : fill(t.line, { n: fault })))
            }
            onBlur={() => setChecked(true)}
            onChange={(e) => {
              setDraft(e.currentTarget.value);
              setRefused("");
            }}
          />
          {changed && (
            <Group gap="xs">
              <Button type="submit" loading={saving}>
                {s.save}
              </Button>
              <Button
                variant="subtle"
                color="gray"
                onClick={() => {
                  setDraft(undefined);
                  setRefused("");
                  setChecked(false);
                }}
              >
                {t.discard}
              </Button>
            </Group>
          )}
        </form>
      ) : stored ? (
        <p className="synonyms">{stored}</p>
      ) : (
        <p className="muted">{t.none}</p>
      )}
    </Card>
  );
}
