import { dictionaries, type TextsOf } from "../../i18n";

export const { texts, bulkTexts, codes, countTexts, pageTexts, reasons } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});

export type PageTexts = TextsOf<typeof pageTexts>;

export type SentTexts = TextsOf<typeof texts>;

/** stateText is the plain word for a state of a notification, message or call. */
export function stateText(t: SentTexts, s: string): string {
  return t[s as keyof SentTexts] ?? s;
}
