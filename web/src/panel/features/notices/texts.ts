import { dictionaries } from "../../i18n";

export const { texts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});
