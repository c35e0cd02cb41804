import "./questions.css";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { answerTexts } from "./texts";

interface Counts {
  title: string;
  answered: number;
  up: number;
  down: number;
}

/** useArticleCounts returns the answers from an article of a base, by its title, with those from its parts. */
export function useArticleCounts(base: string): (title: string) => Counts | undefined {
  const company = useCompany();
  const found = useQuery({
    queryKey: [company.id, "article-counts", base],
    queryFn: ({ signal }) => get("/answers/articles", { knowledge: base }, signal),
  });
  const sums = new Map<string, Counts>();
  for (const c of found.data?.data ?? []) {
    for (const title of new Set([c.title, c.title.split(" – ")[0]!])) {
      const sum = sums.get(title) ?? { title, answered: 0, up: 0, down: 0 };
      sums.set(title, { title, answered: sum.answered + c.answered, up: sum.up + c.up, down: sum.down + c.down });
    }
  }
  return (title) => sums.get(title);
}

/** ArticleCounts are the answers from an article, and their thumbs. */
export function ArticleCounts({ counts: c }: { counts: Counts | undefined }) {
  const a = useTexts(answerTexts);
  const language = useLanguage();
  if (!c) return null;
  const n = (x: number) => number(x, language);
  return (
    <span className="small muted article-counts">
      {c.answered === 1 ? a.oneOfArticle : fill(a.ofArticle, { n: n(c.answered) })}
      {c.up + c.down > 0 && ` · ${fill(a.ups, { n: n(c.up) })} · ${fill(a.downs, { n: n(c.down) })}`}
    </span>
  );
}
