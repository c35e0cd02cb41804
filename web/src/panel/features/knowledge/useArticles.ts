import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { everything, get, post } from "../../api";
import { useCompany } from "../../session";
import type { Article, Base } from "./types";
import { testBefore } from "../agents/tests/gate";

const maxPart = 3_000_000; // characters of the articles in a request

/** inParts divides articles so that each request has a bounded body. */
export function inParts(all: Article[]): Article[][] {
  const parts: Article[][] = [];
  let size = 0;
  for (const a of all) {
    const more = a.title.length + a.text.length + 200;
    if (parts.length === 0 || size + more > maxPart) {
      parts.push([]);
      size = 0;
    }
    parts[parts.length - 1]!.push(a);
    size += more;
  }
  return parts;
}

const maxTested = 900_000; // characters of a changed base with which the tests of agents run

/** testBase runs the tests of the agents that use a base, with a change of it. It throws Canceled if it is not to be saved. */
export async function testBase(id: string, change: (stored: Base) => Base) {
  const using = (await everything("/agents").catch(() => [])).filter((a) => a.knowledge.includes(id));
  if (using.length === 0) return; // saving does not depend on the tests
  const base = change(await get(`/knowledge/${encodeURIComponent(id)}`));
  if (JSON.stringify(base).length <= maxTested) await testBefore(using, { base });
}

/** edited returns a base with articles added and removed. */
function edited(stored: Base, { add = [], remove = [] }: { add?: Article[]; remove?: Article[] }): Base {
  const gone = (a: Article) => remove.some((r) => r.title === a.title && r.text === a.text && r.url === a.url);
  return { ...stored, articles: [...stored.articles.filter((a) => !gone(a)), ...add] };
}

/** useArticles changes articles of a base without sending all of it. An article to remove must be as it was read. */
export function useArticles(base: string) {
  const company = useCompany();
  const client = useQueryClient();
  return useCallback(
    async (x: { add?: Article[]; remove?: Article[] }) => {
      const path = `/knowledge/${encodeURIComponent(base)}/articles` as const;
      await testBase(base, (stored) => edited(stored, x));
      try {
        if (x.remove?.length && x.add?.length) await post(path, x);
        else {
          for (const part of inParts(x.remove ?? [])) await post(path, { remove: part });
          for (const part of inParts(x.add ?? [])) await post(path, { add: part });
        }
      } finally {
        await client.invalidateQueries({ queryKey: [company.id, "knowledge"] });
      }
    },
    [base, client, company.id],
  );
}
