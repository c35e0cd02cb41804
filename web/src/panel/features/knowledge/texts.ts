import { dictionaries } from "../../i18n";

export const { texts, answerTexts, fileTexts, meaningTexts, questionTexts, siteTexts, synonymTexts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});
