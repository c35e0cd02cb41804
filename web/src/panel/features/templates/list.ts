import type { Address } from "./address";
import type { TemplateRow } from "./types";

const plain = (s: string): string => s.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** filtered are the templates that an address asks for. Every word of the text stands in the name or the body. */
export function filtered(all: TemplateRow[], a: Address): TemplateRow[] {
  const words = plain(a.q ?? "")
    .split(/\s+/)
    .filter(Boolean);
  return all.filter(
    (t) =>
      (!a.status || t.status === a.status) &&
      (!a.language || t.language === a.language) &&
      words.every((w) => plain(`${t.name} ${t.body} ${t.sender}`).includes(w)),
  );
}

/** ordered are the templates by name, those of a sender and a name by language. */
export function ordered(all: TemplateRow[]): TemplateRow[] {
  const key = (t: TemplateRow) => [t.name, t.sender, t.language];
  return [...all].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const at = x.findIndex((v, i) => v !== y[i]);
    return at < 0 ? 0 : x[at]! < y[at]! ? -1 : 1;
  });
}
