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
