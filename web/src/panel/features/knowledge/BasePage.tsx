import { Button, TextInput } from "@mantine/core";
import { IconBook2, IconFileImport, IconPlus, IconSearch, IconTrash } from "@tabler/icons-react";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { post } from "../../api";
import { languageName } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Article, Base } from "./types";
import { confirm } from "../../ui/confirm";
import { More } from "../../ui/More";
import { Card, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { useChanges, useOne } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { useAnswering } from "./answering";
import { ArticleCounts, useArticleCounts } from "./ArticleCounts";
import { ArticleDrawer } from "./ArticleDrawer";
import { Files } from "./Files";
import { Import } from "./Import";
import { Meaning } from "./Meaning";
import { Sites } from "./Sites";
import { Synonyms } from "./Synonyms";
import { siteTexts, texts } from "./texts";
import { useArticles } from "./useArticles";

const page = 200; // articles that are shown at first, and then more

export function BasePage() {
  const { id } = useParams({ from: "/shell/knowledge/$id" });
  return (
    <Needs permission="resources:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useOne("knowledge", id);
  if (one.data) return <Articles base={one.data} />;
  return (
    <Page title={id} back={{ to: "/knowledge", text: t.title }}>
      {one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />}
    </Page>
  );
}

/** Articles lists the articles of a base; the address says which one is open. */
function Articles({ base }: { base: Base }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const st = useTexts(siteTexts);
  const language = useLanguage();
  const can = useCan()("resources:write");
  const navigate = useNavigate();
  const { article, title } = useSearch({ from: "/shell/knowledge/$id" });
  const { remove } = useChanges("knowledge");
  const edit = useArticles(base.id);
  const [limit, setLimit] = useState(page);
  const answering = useAnswering();
  const counts = useArticleCounts(base.id);
  const [importing, setImporting] = useState(false);
  const [proposed, setProposed] = useState<Article | null>(null);
  const [search, setSearch] = useState("");
  const open = (a: number | "new" | undefined, title?: string) =>
    void navigate({ to: "/knowledge/$id", params: { id: base.id }, search: { article: a, title } });
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = base.articles
    .map((a, at) => ({ a, at }))
    .filter(({ a }) =>
      words.every((w) => [a.title, a.text, ...(a.questions ?? [])].join(" ").toLowerCase().includes(w)),
    );

  const old = typeof article === "number" ? base.articles[article] : undefined;
  const save = async (a: Article) => {
    await edit(old ? { remove: [old], add: [a] } : { add: [a] });
    if (article === "new" && answering?.questions.length)
      await post("/questions/resolve", { questions: answering.questions });
    succeeded(s.saved);
    setProposed(null);
    open(undefined);
  };
  const drop = async () => {
    if (
      !old ||
      !(await confirm({
        title: fill(t.removeTitle, { name: old.title || t.untitled }),
        text: t.removeText,
        action: s.remove,
        danger: true,
      }))
    )
      return;
    try {
      await edit({ remove: [old] });
      succeeded(t.removed);
      open(undefined);
    } catch (e) {
      failed(e);
    }
  };
  const dropBase = async () => {
    await remove(base.id);
    succeeded(t.baseRemoved);
    void navigate({ to: "/knowledge" });
  };
  const buttons = can && (
    <>
      <Button variant="default" leftSection={<IconFileImport size={16} />} onClick={() => setImporting(true)}>
        {t.import}
      </Button>
      <Button leftSection={<IconPlus size={16} />} onClick={() => open("new")}>
        {t.write}
      </Button>
    </>
  );
  return (
    <Page
      title={base.id}
      back={{ to: "/knowledge", text: t.title }}
      actions={
        can && (
          <>
            {base.articles.length > 0 && buttons}
            <More
              acts={[
                {
                  label: t.removeBase,
                  icon: <IconTrash size={16} />,
                  danger: true,
                  ask: {
                    title: fill(t.removeTitle, { name: base.id }),
                    text: fill(t.removeBaseText, { n: base.articles.length }),
                    action: s.remove,
                  },
                  run: dropBase,
                },
              ]}
            />
          </>
        )
      }
    >
      {base.articles.length === 0 ? (
        <Card flush label={t.articles}>
          <Empty icon={<IconBook2 size={22} />} title={t.emptyBase} text={t.emptyBaseText}>
            {buttons}
          </Empty>
        </Card>
      ) : (
        <div className="stack">
          <TextInput
            aria-label={t.find}
            placeholder={t.find}
            leftSection={<IconSearch size={16} />}
            value={search}
            onChange={(e) => setSearch(e.currentTarget.value)}
            maw={360}
          />
          <Card flush label={t.articles}>
            {shown.length === 0 ? (
              <Empty icon={<IconSearch size={22} />} title={t.noMatch} text={search} />
            ) : (
              <ul className="articles">
                {shown.slice(0, limit).map(({ a, at }) => (
                  <li key={at}>
                    <button type="button" onClick={() => open(at)}>
                      <span className="row-title">{a.title || t.untitled}</span>
                      {a.site && <Tag>{st.from}</Tag>}
                      {a.language && <Tag>{languageName(a.language, language)}</Tag>}
                      <span className="muted excerpt">{a.text.replace(/\s+/g, " ").slice(0, 200)}</span>
                      <ArticleCounts counts={counts(a.title)} />
                    </button>
                  </li>
                ))}
              </ul>
            )}
          </Card>
          {limit < shown.length && (
            <div style={{ textAlign: "center" }}>
              <Button variant="default" onClick={() => setLimit(limit + page)}>
                {s.more}
              </Button>
            </div>
          )}
        </div>
      )}
      <div className="stack" style={{ marginTop: 16 }}>
        {can && <Files base={base.id} has={base.articles} add={(all) => edit({ add: all })} />}
        <Sites base={base} edit={edit} />
        <Synonyms base={base} can={can} />
        <Meaning base={base.id} />
      </div>
      <ArticleDrawer
        key={String(article) + (title ?? "") + (proposed ? "p" : "")}
        article={
          article === "new"
            ? (proposed ?? { title: title ?? "", text: "", url: "", questions: answering?.wordings })
            : old
        }
        fresh={article === "new"}
        mayEdit={can}
        close={() => {
          setProposed(null);
          open(undefined);
        }}
        save={save}
        drop={() => void drop()}
      />
      <Import
        opened={importing}
        close={() => setImporting(false)}
        got={(a) => {
          setImporting(false);
          setProposed(a);
          open("new");
        }}
      />
    </Page>
  );
}
