// The variables of a template, and the keys under which a request gives their values: header_text_0 or header_image, body_text_N, button_url_N.
import type { TemplateComponent } from "./types";

const marker = /\{\{\s*([^{}]+?)\s*\}\}/g;

/** Place is one variable: its name in the text, and its key. Two with the same name in the body are one. */
export interface Place {
  key: string;
  name: string;
  part: "header" | "media" | "body" | "button";
  n: number;
}

/** markersOf are the names of the variables of a text: numbers by their value, names in the order in which they appear. */
export function markersOf(text: string): string[] {
  const found = [...new Set([...text.matchAll(marker)].map((m) => m[1]!))];
  return found.every((n) => /^\d+$/.test(n)) ? found.sort((a, b) => Number(a) - Number(b)) : found;
}

/** placesOf are the variables of a template, in the order of its parts. */
export function placesOf(components: TemplateComponent[]): Place[] {
  const header = components.find((c) => c.type === "HEADER"),
    buttons = components.find((c) => c.type === "BUTTONS")?.buttons ?? [];
  const places: Place[] = [];
  if (header?.format && header.format !== "TEXT")
    places.push({
      key: "header_" + header.format.toLowerCase(),
      name: header.format.toLowerCase(),
      part: "media",
      n: 0,
    });
  else
    for (const name of markersOf(header?.text ?? "").slice(0, 1))
      places.push({ key: "header_text_0", name, part: "header", n: 0 });
  markersOf(components.find((c) => c.type === "BODY")?.text ?? "").forEach((name, n) =>
    places.push({ key: "body_text_" + n, name, part: "body", n }),
  );
  buttons.forEach((b, n) => {
    for (const name of markersOf(b.url ?? "").slice(0, 1))
      places.push({ key: "button_url_" + n, name, part: "button", n });
  });
  return places;
}

/** filledIn replaces the variables of a text. */
export function filledIn(text: string, value: (name: string, whole: string) => string): string {
  return text.replace(marker, (whole, name: string) => value(name, whole));
}
