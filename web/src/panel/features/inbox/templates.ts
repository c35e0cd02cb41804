// What a template becomes with its values, as a teammate sees it before it is sent.
import type { Offered } from "./types";
import { filledIn, markersOf } from "../templates/variables";

/** preview is the text of a template; a value that is missing stays a variable. */
export function preview(t: Offered, value: (key: string) => string): string {
  const found = markersOf(t.components.find((c) => c.type === "BODY")?.text ?? "");
  const filled = (text: string, key: (name: string) => string) =>
    filledIn(text, (name, all) => value(key(name)).trim() || all);
  const parts = t.components.map((c) => {
    switch (c.type) {
      case "HEADER":
        return c.format && c.format !== "TEXT"
          ? value(`header_${c.format.toLowerCase()}`)
          : filled(c.text ?? "", () => "header_text_0");
      case "BODY":
        return filled(c.text ?? "", (name) => `body_text_${found.indexOf(name)}`);
      case "FOOTER":
        return c.text ?? "";
      default:
        return (c.buttons ?? []).map((b) => `[${b.text}]`).join(" ");
    }
  });
  return parts.filter(Boolean).join("\n");
}
