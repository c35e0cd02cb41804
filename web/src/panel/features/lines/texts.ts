import { dictionaries, type TextsOf } from "../../i18n";

export const { texts, testTexts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});

export type TestText = keyof TextsOf<typeof testTexts>;
