import { dictionaries, type TextsOf } from "../../i18n";

export const { texts, enclosedTexts, messageTexts, whyTexts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});

export type InboxTexts = TextsOf<typeof texts>;
