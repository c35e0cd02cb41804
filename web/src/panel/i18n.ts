// Texts in three languages. Each area of the panel has a dictionary of its own: English says which texts there are.
import { useSyncExternalStore } from "react";

export type Language = "en" | "es" | "pt";
export const languages: Record<Language, string> = { en: "English", es: "Español", pt: "Português" };

export type Dictionary<K extends string = string> = Record<Language, Record<K, string>>;

/** dictionary is the texts of an area. */
export function dictionary<K extends string>(
  en: Record<K, string>,
  es: Record<NoInfer<K>, string>,
  pt: Record<NoInfer<K>, string>,
): Dictionary<K> {
  return { en, es, pt };
}

const kept = "carillon.language";

function first(): Language {
  let wanted: string[] = [...navigator.languages];
  try {
    wanted = [localStorage.getItem(kept) ?? "", ...wanted];
  } catch {
    /* no storage */
  }
  for (const w of wanted) {
    const base = w.slice(0, 2).toLowerCase();
    if (base in languages) return base as Language;
  }
  return "en";
}

let language: Language = typeof navigator === "undefined" ? "en" : first();
const listeners = new Set<() => void>();

export function currentLanguage(): Language {
  return language;
}

export function setLanguage(to: Language): void {
  language = to;
  try {
    localStorage.setItem(kept, to);
  } catch {
    /* for the life of the page */
  }
  document.documentElement.lang = to;
  listeners.forEach((l) => l());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, currentLanguage, currentLanguage);
}

export function useTexts<K extends string>(d: Dictionary<K>): Record<K, string> {
  return d[useLanguage()];
}

/** fill puts values in the places {name} of a text. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, key: string) => (key in values ? String(values[key]) : whole));
}
