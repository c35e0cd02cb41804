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

/** grouped are the templates by name, the languages of one together. */
export function grouped(all: TemplateRow[]): TemplateRow[][] {
  const groups = new Map<string, TemplateRow[]>();
  for (const t of [...all].sort((a, b) =>
    a.name < b.name
      ? -1
      : a.name > b.name
        ? 1
        : a.sender < b.sender
          ? -1
          : a.sender > b.sender
            ? 1
            : a.language < b.language
              ? -1
              : 1,
  )) {
    const key = t.sender + "/" + t.name;
    groups.set(key, [...(groups.get(key) ?? []), t]);
  }
  return [...groups.values()];
}
