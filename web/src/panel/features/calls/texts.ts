import { dictionaries, type TextsOf } from "../../i18n";
import type { CallState } from "./types";

export const { texts, pageTexts } = dictionaries({
  en: () => import("./texts/en"),
  es: () => import("./texts/es"),
  pt: () => import("./texts/pt"),
});

export type PageTexts = TextsOf<typeof pageTexts>;

export type CallTexts = TextsOf<typeof texts>;

/** stateText is the plain word for a state. */
export function stateText(t: CallTexts, s: CallState): string {
  return t[s];
}

/** reasonText says why a call ended as it did. */
export function reasonText(t: CallTexts, reason: string | undefined): string {
  return reason && reason !== "canceled" ? (t[reason as keyof CallTexts] ?? reason) : "";
}
