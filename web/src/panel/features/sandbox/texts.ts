import { dictionaries, type TextsOf } from "../../i18n";

export const { texts, phoneTexts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});

export type PhoneTexts = TextsOf<typeof phoneTexts>;

/** doesOf says what numbers with a suffix do; a suffix that is new here is said as the server has it. */
export function doesOf(t: Record<string, string>, suffix: string, effect = ""): string {
  return t[suffix ? "b" + suffix : "any"] ?? (effect || suffix);
}
