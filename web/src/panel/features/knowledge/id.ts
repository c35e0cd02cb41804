/** idOf is the id of a base with a name: without accents, and with hyphens for what an id can't have. */
export function idOf(name: string): string {
  return name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64)
    .replace(/-+$/, "");
}
