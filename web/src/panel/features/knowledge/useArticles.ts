import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { post } from "../../api";
import { useCompany } from "../../session";
import type { Article } from "../../types";

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

/** useArticles changes articles of a base without sending all of it. An article to remove must be as it was read. */
export function useArticles(base: string) {
  const company = useCompany();
  const client = useQueryClient();
  return useCallback(
    async (x: { add?: Article[]; remove?: Article[] }) => {
      const path = `/knowledge/${encodeURIComponent(base)}/articles`;
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
