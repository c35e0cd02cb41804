import type { ReactNode } from "react";
import { Problem } from "../../api";
import { fill, type TextsOf } from "../../i18n";
import type { Article } from "./types";
import { problemText } from "../../ui/problem";
import { fileTexts } from "./texts";

type Texts = TextsOf<typeof fileTexts>;

/** Found is an article of a file; duplicate means that the base, or an earlier file, has it already. */
export interface Found {
  article: Article;
  duplicate: boolean;
}

/** found marks the duplicates among the articles of files. */
export function found(articles: Article[], base: Article[]): Found[] {
  const key = (a: Article) => a.title + "\u0000" + a.text;
  const seen = new Set(base.map(key));
  return articles.map((article) => {
    const duplicate = seen.has(key(article));
    seen.add(key(article));
    return { article, duplicate };
  });
}

/** whyNot says in plain words why a file could not be read. */
export function whyNot(e: unknown, t: Texts): ReactNode {
  if (!(e instanceof Problem)) return problemText(e);
  if (e.status === 413) return t.tooBig;
  const known = (t as Record<string, string>)["fault_" + e.detail("fault")];
  if (!known) return problemText(e);
  const line = Number(e.details.line);
  return line > 0 ? fill(t.line, { n: line, text: known }) : known.charAt(0).toUpperCase() + known.slice(1);
}
