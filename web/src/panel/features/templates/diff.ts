// What an edit changed, word by word.
import type { TemplateComponent } from "./types";
import type { Text } from "./types";

export interface Bit {
  text: string;
  kind: "same" | "gone" | "new";
}

/** difference compares two texts by words. */
export function difference(before: string, after: string): Bit[] {
  const a = split(before),
    b = split(after);
  const longest: number[][] = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i]![j] = a[i] === b[j] ? longest[i + 1]![j + 1]! + 1 : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
  const bits: Bit[] = [];
  const put = (kind: Bit["kind"], text: string) => {
    const last = bits[bits.length - 1];
    if (last?.kind === kind) last.text += text;
    else bits.push({ kind, text });
  };
  let i = 0,
    j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      put("same", a[i]!);
      i++;
      j++;
    } else if (i < a.length && (j >= b.length || longest[i + 1]![j]! >= longest[i]![j + 1]!)) put("gone", a[i++]!);
    else put("new", b[j++]!);
  }
  return bits;
}

const split = (s: string): string[] => s.match(/\{\{[^{}]*\}\}\s*|[\p{L}\p{N}_]+\s*|[^\s]\s*|\s+/gu) ?? [];

export type Part = "name" | "language" | "category" | "header" | "body" | "footer" | "buttons" | "samples" | "deadline";

/** changed are the parts that an edit changed, as texts. */
export function changed(before: Text, after: Text): { part: Part; before: string; after: string }[] {
  const parts: [Part, (t: Text) => string][] = [
    ["name", (t) => t.name],
    ["language", (t) => t.language],
    ["category", (t) => t.category],
    ["header", headerText],
    ["body", (t) => find(t, "BODY")?.text ?? ""],
    ["footer", (t) => find(t, "FOOTER")?.text ?? ""],
    [
      "buttons",
      (t) =>
        (find(t, "BUTTONS")?.buttons ?? [])
          .map((b) => [b.text, b.url ?? b.phone_number ?? ""].filter(Boolean).join(" → "))
          .join("\n"),
    ],
    ["samples", (t) => t.components.flatMap(samples).join("\n")],
    ["deadline", (t) => String(t.message_send_ttl_seconds ?? "")],
  ];
  return parts
    .map(([part, of]) => ({ part, before: of(before), after: of(after) }))
    .filter((p) => p.before !== p.after);
}

const find = (t: Text, type: string): TemplateComponent | undefined => t.components.find((c) => c.type === type);

function headerText(t: Text): string {
  const h = find(t, "HEADER");
  return !h ? "" : h.format && h.format !== "TEXT" ? h.format : (h.text ?? "");
}

function samples(c: TemplateComponent): string[] {
  const e = c.example ?? {};
  const named = [...(e.header_text_named_params ?? []), ...(e.body_text_named_params ?? [])].map(
    (p) => `${p.param_name}: ${p.example}`,
  );
  return [
    ...(e.header_text ?? []),
    ...(e.header_handle ?? []),
    ...(e.body_text ?? []).flat(),
    ...named,
    ...(c.buttons ?? []).flatMap((b) => b.example ?? []),
  ];
}
