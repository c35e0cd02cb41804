/** basepath is where the panel is served. */
export const basepath = "/panel";

/** nextOf is where to go after the sign-in: a path of the panel, never another site. */
export function nextOf(next: unknown): string {
  if (
    typeof next !== "string" ||
    !/^\/(?![/\\])/.test(next) ||
    /[\\\u0000-\u001f]/.test(next) ||
    next.startsWith("/sign-in")
  )
    return "/";
  return next;
}

/** textOf is a value of an address as text, at most max characters of it: digits alone were read as a number. */
export function textOf(value: unknown, max = 255): string | undefined {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text.trim() ? text.slice(0, max) : undefined;
}
