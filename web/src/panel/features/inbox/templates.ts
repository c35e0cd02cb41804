// What a template becomes with its values, as a teammate sees it before it is sent.
import type { Offered } from "./types";

/** preview is the text of a template; a value that is missing stays a variable. */
export function preview(t: Offered, value: (key: string) => string): string {
  const names = new Map<string, number>(); // of the body's variables: numbers by their value, names in the order in which they appear
  const body = t.components.find((c) => c.type === "BODY")?.text ?? "";
  const found = [...new Set([...body.matchAll(/\{\{\s*([^{}]+?)\s*\}\}/g)].map((m) => m[1]!))];
  if (found.every((n) => /^\d+$/.test(n))) found.sort((a, b) => Number(a) - Number(b));
  found.forEach((n, i) => names.set(n, i));
  const filled = (text: string, key: (name: string) => string) => text.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (all, name: string) => value(key(name)).trim() || all);
  const parts = t.components.map((c) => {
    switch (c.type) {
      case "HEADER": return c.format && c.format !== "TEXT" ? value(`header_${c.format.toLowerCase()}`) : filled(c.text ?? "", () => "header_text_0");
      case "BODY": return filled(c.text ?? "", (name) => `body_text_${names.get(name) ?? 0}`);
      case "FOOTER": return c.text ?? "";
      default: return (c.buttons ?? []).map((b) => `[${b.text}]`).join(" ");
    }
  });
  return parts.filter(Boolean).join("\n");
}
