/** problemOf is what is wrong with the text of a schema: nothing, no JSON, or no object. */
export function problemOf(text: string): "" | "badJson" | "notObject" {
  if (!text.trim()) return "";
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? "" : "notObject";
  } catch {
    return "badJson";
  }
}
