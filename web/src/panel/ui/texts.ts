import { dictionaries } from "../i18n";

export const { certaintyTexts, chartTexts, listTexts, rateTexts, rules, sentences, shared } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});
