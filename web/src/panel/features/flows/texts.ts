import { dictionaries, type TextsOf } from "../../i18n";

export const { texts, formTexts, conditionTexts, runTexts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});

export type FlowTexts = TextsOf<typeof texts>;
