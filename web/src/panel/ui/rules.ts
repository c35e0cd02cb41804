import { fill } from "../i18n";
import { rules } from "./texts";

/** Reason is why the server refused something: its English sentence, and the rule behind it with the values in it. */
export interface Reason {
  reason?: unknown;
  rule?: unknown;
  values?: unknown;
}

/** sentenceOf is a reason in the language of the page; the English sentence where it has no rule; "" where there is none. */
export function sentenceOf(x: Reason | undefined): string {
  const text = typeof x?.rule === "string" ? (rules.now as Record<string, string>)[x.rule] : undefined;
  if (text) return fill(text, (x!.values ?? {}) as Record<string, string>);
  return typeof x?.reason === "string" ? x.reason : "";
}
