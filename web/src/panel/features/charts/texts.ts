import { dictionaries } from "../../i18n";

export const { answerTexts, callTexts, timeTexts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});
