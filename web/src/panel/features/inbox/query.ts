// The request of a page of the list: its folder, and what the search field asks for.
import type { View } from "./model";

const pageSize = 40;
const searches: [parameter: string, written: RegExp][] = [
  ["tag", /^tag:(\S+)$/],
  ["topic", /^topic:(.+)$/],
  ["goal", /^goal:(yes|no|unknown)$/],
];

/** listQuery is the query of a list. "tag:", "topic:" and "goal:" search in the marks of conversations, other words in their texts. */
export function listQuery(view: View, search: string, cursor?: string): Record<string, string> {
  const q: Record<string, string> = { folder: view.folder, limit: String(pageSize), order: view.order };
  if (view.closed) q.closed = "true";
  const words = search.trim();
  const marked = searches.find(([, written]) => written.test(words));
  if (marked) q[marked[0]] = marked[1].exec(words)![1]!.trim();
  else if (words) q.search = words;
  if (cursor) q.cursor = cursor;
  return q;
}
