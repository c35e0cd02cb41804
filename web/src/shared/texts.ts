// What the texts of the widgets' pages have in common.

/** pick are the texts of a language, English where there are none, with a widget's own over them. */
export function pick<T extends Record<string, string>>(
  languages: Record<string, T>,
  language: string,
  own: Record<string, string> = {},
): T {
  const texts: Record<string, string> = { ...(languages[language.slice(0, 2).toLowerCase()] ?? languages.en) };
  for (const key of Object.keys(texts)) if (typeof own[key] === "string" && own[key]) texts[key] = own[key]!;
  return texts as T;
}

/**
 * shownIn is the language of a page's texts, in which its times are too: English where there are no texts in a language, unless a widget
 * words most of them itself.
 */
export function shownIn<T extends Record<string, string>>(
  languages: Record<string, T>,
  language: string,
  own: Record<string, string> = {},
): string {
  const known = language.slice(0, 2).toLowerCase() in languages;
  const keys = Object.keys(languages.en!);
  return known || keys.filter((key) => own[key]).length * 2 > keys.length ? language : "en";
}

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, key: string) => (key in values ? String(values[key]) : whole));
}

export function direction(language: string): "ltr" | "rtl" {
  return /^(ar|he|iw|fa|ur|yi|ps|sd|ug|dv|ckb)\b/i.test(language) ? "rtl" : "ltr";
}

/** ahead says who is ahead of the nth in line, by texts for the first, the second and the others; one text has the place. */
export function ahead(text: string, n: number): string {
  const texts = text.split("|");
  return texts.length < 3 ? fill(text, { n }) : fill(texts[Math.min(n, 3) - 1]!, { n: n - 1 });
}
