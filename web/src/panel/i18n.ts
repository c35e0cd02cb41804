// Texts in three languages. Each area of the panel has a file of texts for each language, and loads one of them.
import { useSyncExternalStore } from "react";

export type Language = "en" | "es" | "pt";
export const languages: Record<Language, string> = { en: "English", es: "Español", pt: "Português" };

/** Dictionary holds the texts of an area in the current language. */
export interface Dictionary<K extends string = string> {
  readonly now: Record<K, string>;
}

/** TextsOf is the type of a dictionary's texts. */
export type TextsOf<D> = D extends Dictionary<infer K> ? Record<K, string> : never;

type Areas = Record<string, Record<string, string>>;

/** Files imports an area's texts in each language. The English file defines the keys. */
interface Files<A extends Areas> {
  en: () => Promise<A>;
  es: () => Promise<{ [N in keyof A]: Record<keyof A[N], string> }>;
  pt: () => Promise<{ [N in keyof A]: Record<keyof A[N], string> }>;
}
type Dictionaries<A extends Areas> = { [N in keyof A]: Dictionary<keyof A[N] & string> };

const areas: ((l: Language) => Promise<() => void>)[] = [];
let loading: Promise<void> = Promise.resolve();

/**
 * dictionaries returns a dictionary for each export of an area's files, and begins to load the file of the current
 * language. The dictionaries are empty until textsLoaded.
 */
export function dictionaries<A extends Areas>(files: Files<A>): Dictionaries<A> {
  const all: Record<string, { now: Record<string, string> }> = {};
  const of = (name: string) => (all[name] ??= { now: {} });
  const load = async (l: Language) => {
    const texts = (await files[l]()) as Areas;
    return () => Object.entries(texts).forEach(([name, now]) => (of(name).now = now));
  };
  areas.push(load);
  loading = Promise.all([loading, load(language).then((use) => use())]).then(() => {});
  return new Proxy({} as Dictionaries<A>, { get: (_, name) => of(String(name)) });
}

/** textsLoaded waits for the texts of all areas that are imported so far. */
export async function textsLoaded(): Promise<void> {
  for (let last; last !== loading;) await (last = loading);
}

/** withTexts imports a part of the panel, with the texts of its areas. */
export function withTexts<M>(part: () => Promise<M>): () => Promise<M> {
  return async () => {
    const loaded = await part();
    await textsLoaded();
    return loaded;
  };
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

/** setLanguage changes the language once its texts are loaded. If they cannot be loaded, the language stays. */
export async function setLanguage(to: Language): Promise<void> {
  const loaded = await Promise.all(areas.map((load) => load(to)));
  language = to;
  loaded.forEach((use) => use());
  try {
    localStorage.setItem(kept, to);
  } catch {
    /* for the life of the page */
  }
  listeners.forEach((l) => l());
}

/** subscribe calls back when the language changes. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, currentLanguage, currentLanguage);
}

export function useTexts<K extends string>(d: Dictionary<K>): Record<K, string> {
  useLanguage();
  return d.now;
}

/** fill puts values in the places {name} of a text. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, key: string) => (key in values ? String(values[key]) : whole));
}
