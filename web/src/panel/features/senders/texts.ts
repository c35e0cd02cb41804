import { dictionaries, type TextsOf } from "../../i18n";

export const { texts, callsTexts, checkTexts, historyTexts, signUpTexts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});

export type SenderText = keyof TextsOf<typeof texts>;
