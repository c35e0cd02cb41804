import { Button, TextInput } from "@mantine/core";
import { IconSearch, IconSearchOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { get } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Certainty } from "../../ui/Certainty";
import { Card, Empty, Failed, Note, Rows, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { Several } from "../../ui/Several";
import { faultText } from "./faults";
import { meaningTexts, texts } from "./texts";

/** SearchTest shows what an agent would find. The question stands in the address. */
export function SearchTest() {
  const t = useTexts(texts);
  const mt = useTexts(meaningTexts);
  const similarity = new Intl.NumberFormat(useLanguage(), { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const company = useCompany();
  const navigate = useNavigate();
  const { q = "" } = useSearch({ from: "/shell/knowledge" });
  const [text, setText] = useState(q);
  const [bases, setBases] = useState<string[]>([]);
  const all = useList("knowledge");
  const found = useQuery({
    queryKey: [company.id, "search", q, bases],
    enabled: q !== "",
    staleTime: 0,
    queryFn: ({ signal }) => get("/knowledge/search", { q, knowledge: bases, limit: 10 }, signal),
  });
  return (
    <div className="stack">
      <p className="muted" style={{ margin: 0 }}>
        {t.searchHelp}
      </p>
      <form
        className="search-line"
        onSubmit={(e) => {
          e.preventDefault();
          void navigate({ to: "/knowledge", search: { tab: "search", q: text.trim() || undefined } });
        }}
      >
        <TextInput
          aria-label={t.query}
          placeholder={t.query}
          value={text}
          maxLength={1000}
          onChange={(e) => setText(e.currentTarget.value)}
          leftSection={<IconSearch size={16} />}
        />
        <Several
          searchable
          aria-label={t.bases}
          placeholder={bases.length ? undefined : t.all}
          data={(all.data ?? []).map((b) => b.id)}
          value={bases}
          onChange={setBases}
        />
        <Button type="submit" loading={found.isFetching} disabled={!text.trim()}>
          {t.tryTab}
        </Button>
      </form>
      {q !== "" &&
        (found.isPending ? (
          <Rows n={3} />
        ) : found.isLoadingError ? (
          <Failed error={found.error} retry={() => void found.refetch()} />
        ) : (
          <>
            {found.data.words_alone && (
              <Note tone="warn">
                {found.data.words_alone.base}: {mt.alone}{" "}
                {faultText(mt, found.data.words_alone.fault, found.data.words_alone.detail)}
              </Note>
            )}
            <Card flush label={t.results}>
              <h2 className="hidden">{t.results}</h2>
              {found.data.results.length === 0 ? (
                <Empty icon={<IconSearchOff size={22} />} title={t.noResults} text={q} />
              ) : (
                <ul className="found">
                  {found.data.results.map((r, i) => (
                    <li key={i}>
                      <div className="found-head">
                        <strong>{r.title}</strong>
                        <span className="muted small">{fill(t.inBase, { base: r.knowledge })}</span>
                        <Tag tone={r.answers ? "ok" : r.offered ? "warn" : undefined}>
                          {r.answers ? t.answers : r.offered ? t.offered : t.unused}
                        </Tag>
                        <span className="muted small found-certainty">
                          <Certainty of={r.score} />
                          {r.similarity !== undefined && ` · ${mt.similarity} ${similarity.format(r.similarity)}`}
                        </span>
                      </div>
                      <p>{r.text}</p>
                    </li>
                  ))}
                </ul>
              )}
            </Card>
          </>
        ))}
    </div>
  );
}
