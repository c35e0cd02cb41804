import { Button, Group, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Problem, put } from "../../api";
import { dictionary, fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Card } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { firstFault, groupsOf, lineOf } from "./synonyms";
import type { Base } from "./types";
import { testBase } from "./useArticles";

const texts = dictionary(
  {
    title: "Synonyms",
    help: "Words and phrases that mean the same here, separated by commas; one group a line",
    example: "buggy, pram, stroller\nHappy Hour, evening discount",
    none: "This base has no synonyms of its own.",
    line: "Line {n} must have 2 to 16 words or phrases separated by commas, in at most 300 bytes, without ?, = and #",
    refused: "Line {n}: {why}",
    many: "At most 200 groups",
    discard: "Discard changes",
  },
  {
    title: "Sinónimos",
    help: "Palabras y frases que aquí significan lo mismo, separadas por comas; un grupo por línea",
    example: "carrito, cochecito, silla de paseo\nHappy Hour, descuento de tarde",
    none: "Esta base no tiene sinónimos propios.",
    line: "La línea {n} debe tener de 2 a 16 palabras o frases separadas por comas, en 300 bytes como máximo, sin ?, = ni #",
    refused: "Línea {n}: {why}",
    many: "200 grupos como máximo",
    discard: "Descartar cambios",
  },
  {
    title: "Sinônimos",
    help: "Palavras e frases que aqui significam o mesmo, separadas por vírgulas; um grupo por linha",
    example: "carrinho, carrinho de bebê\nHappy Hour, desconto da tarde",
    none: "Esta base não tem sinônimos próprios.",
    line: "A linha {n} deve ter de 2 a 16 palavras ou frases separadas por vírgulas, em no máximo 300 bytes, sem ?, = e #",
    refused: "Linha {n}: {why}",
    many: "No máximo 200 grupos",
    discard: "Descartar mudanças",
  },
);

/** Synonyms shows and changes the synonyms of a base. */
export function Synonyms({ base, can }: { base: Base; can: boolean }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const stored = (base.synonyms ?? []).join("\n");
  const [draft, setDraft] = useState<string>();
  const [checked, setChecked] = useState(false);
  const [refused, setRefused] = useState("");
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
      const why = e.reason || e.message;
      const group = /^synonyms\.(\d+)$/.exec(e.field);
      setRefused(group ? fill(t.refused, { n: lineOf(text, Number(group[1])), why }) : why);
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
